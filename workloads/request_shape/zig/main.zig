//! zig_sqlite: the request shape on SQLite's own C API.
const std = @import("std");
const concurrent = @import("concurrent.zig");
const info = @import("info.zig");
const options = @import("options.zig");
const point = @import("point.zig");
const sequential = @import("sequential.zig");

pub const runner = "zig_sqlite";
pub const case_prefix = runner ++ "/app_request/";

/// No name resolution: it would need the C library's shared parts, which a static program does not have.
pub const std_options: std.Options = .{ .networking = false };

pub fn main(init: std.process.Init) void {
    const arguments = init.minimal.args.toSlice(init.arena.allocator()) catch |reason| fail("arguments", reason);
    const wanted = options.parse(init.io, arguments[1..]);
    database = .{ .io = init.io, .path = wanted.path };
    switch (wanted.action) {
        .sequential => sequential.runSequential(init.io, &wanted),
        .concurrent => concurrent.runConcurrent(init, &wanted),
        .trace => sequential.printTrace(init.io, &wanted),
        .info => info.printInfo(init.io),
        .histogram => point.mergeHistograms(init.io),
        .help => printLine(init.io, "{s}", .{options.help}),
    }
    removeDatabase();
}

/// Set before any thread is started.
var database: ?struct { io: std.Io, path: []const u8 } = null;
/// Kept for good by the first that fails, of several workers.
var speaking: std.Io.Mutex = .init;

/// Prints at once. Output that did not arrive is a failure: a full disk must not look like a short result.
pub fn printLine(io: std.Io, comptime format: []const u8, values: anytype) void {
    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writerStreaming(io, &buffer);
    out.interface.print(format ++ "\n", values) catch outputFailed();
    out.interface.flush() catch outputFailed();
}

pub fn outputFailed() noreturn {
    end("standard output: it could not be written in full", .{});
}

/// Prints "zig_sqlite: <what>: <reason>" and ends the program with exit code 1.
pub fn fail(what: []const u8, reason: anyerror) noreturn {
    end("{s}: {t}", .{ what, reason });
}

/// Says why and ends the program, from any thread: of several workers that fail, the first. The database is of no use then.
pub fn end(comptime format: []const u8, values: anytype) noreturn {
    if (database) |its| speaking.lockUncancelable(its.io);
    std.debug.print(runner ++ ": " ++ format ++ "\n", values);
    removeDatabase();
    std.process.exit(1);
}

fn removeDatabase() void {
    const its = database orelse return;
    for (options.database_suffixes) |suffix| {
        var buffer: [std.fs.max_path_bytes]u8 = undefined;
        const file = std.fmt.bufPrint(&buffer, "{s}{s}", .{ its.path, suffix }) catch unreachable; // its options were checked
        std.Io.Dir.cwd().deleteFile(its.io, file) catch {};
    }
}
