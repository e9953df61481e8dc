//! --info: what this program really is, as JSON.
const std = @import("std");
const build = @import("build");
const sqlite = @import("sqlite3.zig");
const main = @import("main.zig");
const statement_count = @import("database.zig").statement_count;

pub fn printInfo(io: std.Io) void {
    var options: [256][]const u8 = undefined;
    var count: usize = 0;
    while (sqlite.sqlite3_compileoption_get(@intCast(count))) |option| : (count += 1) options[count] = std.mem.span(option);
    const members = .{
        .runner = main.runner,
        .language = "Zig",
        .language_version = @import("builtin").zig_version_string,
        .driver = "SQLite C API",
        .driver_version = std.mem.span(sqlite.sqlite3_libversion()),
        .sqlite_version = std.mem.span(sqlite.sqlite3_libversion()),
        .sqlite_source_id = std.mem.span(sqlite.sqlite3_sourceid()),
        .compile_options = options[0..count],
        .statement_cache_size = statement_count,
        .statement_cache_default = null,
        .build_flags = @as([]const u8, build.flags),
    };
    main.printLine(io, "{f}", .{std.json.fmt(members, .{})});
}
