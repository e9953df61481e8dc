//! One connection, requests one after another; and the trace of one request of each kind.
const std = @import("std");
const main = @import("main.zig");
const request = @import("request.zig");
const Database = @import("database.zig").Database;
const Error = @import("database.zig").Error;
const Options = @import("options.zig").Options;

fn printRow(io: std.Io, name: []const u8, items: u64, start: std.Io.Timestamp, end: std.Io.Timestamp, check: u64) void {
    const ns: u64 = @intCast(start.durationTo(end).nanoseconds);
    const ns_per_item = (ns + items / 2) / items;
    main.printLine(io, main.case_prefix ++ "{s},{d},{d},{d}.{d:0>3},{d}", .{
        name, items, ns / 1000, ns_per_item / 1000, ns_per_item % 1000, @as(i64, @bitCast(check)),
    });
}

/// Requests 1 to `requests`, timed; their check sums added up.
fn timed(io: std.Io, db: *Database, name: []const u8, requests: i64, comptime send: fn (*Database, i64, i64) Error!u64) void {
    const items = db.shape.items();
    var check: u64 = 0;
    const start = std.Io.Clock.awake.now(io);
    var i: i64 = 1;
    while (i <= requests) : (i += 1) {
        check +%= send(db, i, @rem(i - 1, items) + 1) catch |reason| db.fail(name, reason);
    }
    printRow(io, name, @intCast(requests), start, std.Io.Clock.awake.now(io), check);
}

fn edit(db: *Database, _: i64, item: i64) Error!u64 {
    return request.adminItemEdit(db, item);
}

pub fn runSequential(io: std.Io, options: *const Options) void {
    var db: Database = .open(options);
    main.printLine(io, "case,items,micros,us_per_item,check", .{});

    const start = std.Io.Clock.awake.now(io);
    db.seed();
    const end = std.Io.Clock.awake.now(io);
    printRow(io, "seed_dummy_data", db.countChanges(), start, end, db.sumEveryRow());

    timed(io, &db, "admin_item_edit", options.items, edit);
    timed(io, &db, "admin_item_update", options.items, request.adminItemUpdate);

    db.close();
    if (options.statement_counts) db.counts.print();
}

pub fn printTrace(io: std.Io, options: *const Options) void {
    var db: Database = .open(options);
    db.seed();
    var buffer: [4096]u8 = undefined;
    var out = std.Io.File.stdout().writerStreaming(io, &buffer);
    options.shape.write(&out.interface) catch main.outputFailed();
    db.trace = .{ .out = &out.interface, .request = "admin_item_edit" };
    _ = request.adminItemEdit(&db, 1) catch |reason| db.fail("admin_item_edit", reason);
    db.trace = .{ .out = &out.interface, .request = "admin_item_update" };
    _ = request.adminItemUpdate(&db, 1, 1) catch |reason| db.fail("admin_item_update", reason);
    out.interface.flush() catch main.outputFailed();
    db.close();
}
