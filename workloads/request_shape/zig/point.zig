//! What a run of concurrent mode prints: its row, and its histograms as files.
const std = @import("std");
const main = @import("main.zig");
const Histogram = @import("histogram.zig").Histogram;
const Options = @import("options.zig").Options;

/// Into the folder BENCHCTL_OUT, where there is one.
fn writeHistogramFile(init: std.process.Init, load: []const u8, suffix: []const u8, histogram: *const Histogram) void {
    const folder = init.environ_map.get("BENCHCTL_OUT") orelse return;
    if (folder.len == 0 or histogram.total == 0) return;
    const format = "{s}/" ++ main.runner ++ "_app_request_{s}{s}.hist.csv";
    const path = std.fmt.allocPrint(init.arena.allocator(), format, .{ folder, load, suffix }) catch |reason|
        main.fail(folder, reason);
    const file = std.Io.Dir.cwd().createFile(init.io, path, .{ .exclusive = true }) catch |reason|
        main.fail(path, reason);
    var buffer: [4096]u8 = undefined;
    var out = file.writerStreaming(init.io, &buffer);
    histogram.write(&out.interface) catch |reason| main.fail(path, out.err orelse reason);
    file.close(init.io);
}

fn us(ns: u64) f64 {
    return @as(f64, @floatFromInt(ns)) / 1e3;
}

/// p50_us,p95_us,p99_us,max_us.
fn columns(of: *const Histogram) [4]f64 {
    return .{ us(of.percentileNs(50)), us(of.percentileNs(95)), us(of.percentileNs(99)), us(of.max_ns) };
}

pub fn printPoint(init: std.process.Init, options: *const Options, latencies: *const Histogram, busy_waits: *const Histogram) void {
    const load = @tagName(options.load);
    writeHistogramFile(init, load, "", latencies);
    writeHistogramFile(init, load, ".errors", busy_waits);
    const seconds = @as(f64, @floatFromInt(options.duration_ns)) / 1e9;
    const rate = @as(f64, @floatFromInt(latencies.total)) / seconds;
    const p50, const p95, const p99, const max = columns(latencies);
    main.printLine(init.io, "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors", .{});
    main.printLine(init.io, main.case_prefix ++ "{s},{d},{d:.3},{d},{d:.3},{d:.3},{d:.3},{d:.3},{d:.3},{d}", .{
        load, options.workers, seconds, latencies.total, rate, p50, p95, p99, max, busy_waits.total,
    });
}

pub fn mergeHistograms(io: std.Io) void {
    var merged: Histogram = .{};
    var worker: Histogram = .{};
    var buffer: [4096]u8 = undefined;
    var in = std.Io.File.stdin().readerStreaming(io, &buffer);
    var number: u64 = 1;
    while (in.interface.takeDelimiter('\n') catch refuseLine(number)) |line| : (number += 1) {
        if (line.len == 0) {
            merged.add(&worker);
            worker = .{};
            continue;
        }
        for (line) |byte| if (!std.ascii.isDigit(byte)) refuseLine(number);
        if (line.len > 18) refuseLine(number);
        worker.record(std.fmt.parseInt(u64, line, 10) catch unreachable); // 18 digits fit
    }
    merged.add(&worker);
    main.printLine(io, "p50_us,p95_us,p99_us,max_us", .{});
    main.printLine(io, "{d:.3},{d:.3},{d:.3},{d:.3}", .{ columns(&merged)[0], columns(&merged)[1], columns(&merged)[2], columns(&merged)[3] });
    var out = std.Io.File.stdout().writerStreaming(io, &buffer);
    merged.write(&out.interface) catch main.outputFailed();
}

fn refuseLine(number: u64) noreturn {
    main.end("--histogram: line {d} of standard input is not a whole number of nanoseconds", .{number});
}
