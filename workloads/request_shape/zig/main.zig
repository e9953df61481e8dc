//! zig_sqlite: the request shape on SQLite's own C API.
const std = @import("std");
const concurrent = @import("concurrent.zig");
const info = @import("info.zig");
const options = @import("options.zig");
const sequential = @import("sequential.zig");

pub const runner = "zig_sqlite";
pub const case_prefix = runner ++ "/app_request/";

/// No name resolution: it would need the C library's shared parts, which a static program does not have.
pub const std_options: std.Options = .{ .networking = false };

pub fn main(init: std.process.Init) void {
    const arguments = init.minimal.args.toSlice(init.arena.allocator()) catch |reason| fail("arguments", reason);
    const wanted = options.parse(init.io, arguments[1..]);
    switch (wanted.action) {
        .sequential => sequential.runSequential(init.io, &wanted),
        .concurrent => concurrent.runConcurrent(init, &wanted),
        .trace => sequential.printTrace(init.io, &wanted),
        .info => info.printInfo(init.io),
        .help => printLine(init.io, "{s}", .{options.help}),
    }
    removeDatabase(init.io, wanted.path);
}

/// Prints at once. Output that did not arrive is a failure: a full disk must not look like a short result.
pub fn printLine(io: std.Io, comptime format: []const u8, values: anytype) void {
    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writerStreaming(io, &buffer);
    out.interface.print(format ++ "\n", values) catch outputFailed();
    out.interface.flush() catch outputFailed();
}

pub fn outputFailed() noreturn {
    std.debug.print(runner ++ ": standard output: it could not be written in full\n", .{});
    std.process.exit(1);
}

/// Prints "zig_sqlite: <what>: <reason>" and ends the program with exit code 1; the database file stays as evidence.
pub fn fail(what: []const u8, reason: anyerror) noreturn {
    std.debug.print(runner ++ ": {s}: {t}\n", .{ what, reason });
    std.process.exit(1);
}

fn removeDatabase(io: std.Io, path: []const u8) void {
    inline for (.{ "", "-wal", "-shm" }) |suffix| {
        var name: [8192]u8 = undefined;
        const file = std.fmt.bufPrint(&name, "{s}" ++ suffix, .{path}) catch unreachable; // SQLite has opened it
        std.Io.Dir.cwd().deleteFile(io, file) catch {};
    }
}
