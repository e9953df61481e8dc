//! Workers at once for a fixed time, one thread and one connection each.
const std = @import("std");
const main = @import("main.zig");
const request = @import("request.zig");
const Database = @import("database.zig").Database;
const Error = @import("database.zig").Error;
const Histogram = @import("histogram.zig").Histogram;
const Options = @import("options.zig").Options;

/// single_writer: an update handed to the thread that owns the one writing connection.
const Job = struct { i: i64, item: i64, busy: bool = false, done: std.Io.Event = .unset };

const Run = struct {
    io: std.Io,
    options: *const Options,
    /// One permit for each worker whose connection is open.
    opened: std.Io.Semaphore = .{},
    started: std.Io.Event = .unset,
    /// The measured window; set before `started`.
    begin_ns: i64 = 0,
    end_ns: i64 = 0,
    /// Workers whose requests of the window have all ended.
    finished: std.atomic.Value(u32) = .init(0),
    jobs: std.Io.Queue(*Job),

    fn nowNs(self: *const Run) i64 {
        return @intCast(std.Io.Clock.awake.now(self.io).nanoseconds);
    }
};

const Outcome = struct { latencies: Histogram = .{}, busy_waits: Histogram = .{} };

fn writeForAll(run: *Run) void {
    var db: Database = .open(run.options);
    while (run.jobs.getOneUncancelable(run.io)) |job| {
        job.busy = isBusy(&db, request.adminItemUpdate(&db, job.i, job.item), "single_writer");
        job.done.set(run.io);
    } else |closed| switch (closed) {
        error.Closed => db.close(),
    }
}

/// Whether a write waited for the lock in vain. Every other error ends the program.
fn isBusy(db: *Database, result: Error!u64, what: []const u8) bool {
    _ = result catch |reason| switch (reason) {
        error.Busy => return true,
        else => db.fail(what, reason),
    };
    return false;
}

fn submit(run: *Run, i: i64, item: i64) bool {
    var job: Job = .{ .i = i, .item = item };
    run.jobs.putOneUncancelable(run.io, &job) catch unreachable; // closed only when all workers have ended
    job.done.waitUncancelable(run.io);
    return job.busy;
}

/// Sends request `i` of a worker; whether it failed busy.
fn send(run: *Run, db: ?*Database, writes: bool, i: i64, item: i64) bool {
    const own = db orelse return submit(run, i, item);
    if (writes) return isBusy(own, request.adminItemUpdate(own, i, item), @tagName(run.options.load));
    _ = request.adminItemEdit(own, item) catch |reason| own.fail(@tagName(run.options.load), reason);
    return false;
}

fn work(run: *Run, index: i64, outcome: *Outcome) void {
    var connection: ?Database = if (run.options.load == .single_writer) null else .open(run.options);
    const db: ?*Database = if (connection) |*own| own else null;
    run.opened.post(run.io);
    run.started.waitUncancelable(run.io);

    var finished = false;
    var i: i64 = 0;
    while (true) : (i += 1) {
        const start = run.nowNs();
        // The load stays on until every request that started inside the window has ended.
        if (start >= run.end_ns and !finished) {
            finished = true;
            _ = run.finished.fetchAdd(1, .seq_cst);
        }
        if (finished and run.finished.load(.seq_cst) == run.options.workers) break;
        const writes = switch (run.options.load) {
            .read => false,
            .write, .single_writer => true,
            .mixed => @rem(i, 10) == 9,
        };
        const busy = send(run, db, writes, i, @rem(37 * index + i, 100) + 1);
        const took: u64 = @intCast(run.nowNs() - start);
        if (start < run.begin_ns or start >= run.end_ns) continue;
        const histogram = if (busy) &outcome.busy_waits else &outcome.latencies;
        histogram.record(took);
    }
    if (db) |own| own.close();
}

fn spawn(comptime body: anytype, arguments: anytype) std.Thread {
    return std.Thread.spawn(.{}, body, arguments) catch |reason| main.fail("cannot start a thread", reason);
}

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

fn micros(ns: u64) f64 {
    return @as(f64, @floatFromInt(ns)) / 1e3;
}

fn printRow(io: std.Io, options: *const Options, latencies: *const Histogram, errors: u64) void {
    const seconds = @as(f64, @floatFromInt(options.duration_ns)) / 1e9;
    main.printLine(io, "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors", .{});
    main.printLine(io, main.case_prefix ++ "{t},{d},{d:.3},{d},{d:.3},{d:.3},{d:.3},{d:.3},{d:.3},{d}", .{
        options.load,                                       options.workers,
        seconds,                                            latencies.total,
        @as(f64, @floatFromInt(latencies.total)) / seconds, micros(latencies.percentileNs(50)),
        micros(latencies.percentileNs(95)),                 micros(latencies.percentileNs(99)),
        micros(latencies.max_ns),                           errors,
    });
}

pub fn runConcurrent(init: std.process.Init, options: *const Options) void {
    const io = init.io;
    var db: Database = .open(options);
    db.seed();
    db.close();

    const memory = init.arena.allocator();
    const queued = memory.alloc(*Job, options.workers) catch |reason| main.fail("workers", reason);
    const threads = memory.alloc(std.Thread, options.workers) catch |reason| main.fail("workers", reason);
    const outcomes = memory.alloc(Outcome, options.workers) catch |reason| main.fail("workers", reason);
    var state: Run = .{ .io = io, .options = options, .jobs = .init(queued) };
    const writer: ?std.Thread = if (options.load == .single_writer) spawn(writeForAll, .{&state}) else null;
    for (threads, outcomes, 0..) |*thread, *outcome, index| {
        outcome.* = .{};
        thread.* = spawn(work, .{ &state, @as(i64, @intCast(index)), outcome });
    }
    // All connections are open: the clock starts.
    for (threads) |_| state.opened.waitUncancelable(io);
    state.begin_ns = state.nowNs() + options.warmup_ns;
    state.end_ns = state.begin_ns + options.duration_ns;
    state.started.set(io);

    var total: Outcome = .{};
    for (threads, outcomes) |thread, *outcome| {
        thread.join();
        total.latencies.add(&outcome.latencies);
        total.busy_waits.add(&outcome.busy_waits);
    }
    state.jobs.close(io);
    if (writer) |thread| thread.join();
    writeHistogramFile(init, @tagName(options.load), "", &total.latencies);
    writeHistogramFile(init, @tagName(options.load), ".errors", &total.busy_waits);
    printRow(io, options, &total.latencies, total.busy_waits.total);
}
