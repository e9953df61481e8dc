//! The two requests. Both return the sum of what they read.
const std = @import("std");
const database = @import("database.zig");
const Database = database.Database;
const Error = database.Error;

const slug: []const u8 = "harbour-hall";

/// Runs reads and adds up what they saw.
const Reader = struct {
    db: *Database,
    sum: u64 = 0,

    fn read(self: *Reader, comptime statement: database.Statement, values: anytype) Error!void {
        self.sum +%= (try self.db.query(statement, values)).sum;
    }

    fn readFirst(self: *Reader, comptime statement: database.Statement, values: anytype) Error!i64 {
        const row = try self.db.query(statement, values);
        self.sum +%= row.sum;
        return row.first;
    }
};

/// The reads of an edit: as many as the shape says.
const EditReader = struct {
    reader: Reader,
    left: u32,

    fn read(self: *EditReader, comptime statement: database.Statement, values: anytype) EditError!void {
        _ = try self.readFirst(statement, values);
    }

    fn readFirst(self: *EditReader, comptime statement: database.Statement, values: anytype) EditError!i64 {
        try self.takeOne();
        return self.reader.readFirst(statement, values);
    }

    /// The parent lookup in the program: org by org until there is no parent. It counts as one read.
    fn walkParentChain(self: *EditReader, org: i64) EditError!void {
        try self.takeOne();
        var parent = org;
        while (parent != 0) parent = try self.reader.readFirst(.parent_of_org, .{parent});
    }

    fn takeOne(self: *EditReader) error{Enough}!void {
        if (self.left == 0) return error.Enough;
        self.left -= 1;
    }
};

const EditError = Error || error{Enough};

pub fn adminItemEdit(db: *Database, item: i64) Error!u64 {
    var edit: EditReader = .{ .reader = .{ .db = db }, .left = db.shape.reads };
    while (true) readPage(&edit, item) catch |reason| switch (reason) {
        error.Enough => return edit.reader.sum,
        else => |failure| return failure,
    };
}

/// The list from its start again, until as many reads are done as the shape says.
fn readPage(edit: *EditReader, item: i64) EditError!void {
    try edit.read(.staff_by_id, .{1});
    const org = try edit.readFirst(.org_by_slug, .{slug});
    try edit.read(.item_by_org_and_id, .{ org, item });
    try edit.read(.count_sponsors, .{org});
    try edit.read(.count_tags, .{org});
    try edit.read(.count_taxes, .{org});
    switch (edit.reader.db.shape.parent_lookup) {
        .recursive => try edit.read(.sum_parent_chain, .{org}),
        .application => try edit.walkParentChain(org),
    }
    try edit.read(.count_active_fees, .{ 403, 411, 418 });
    try edit.read(.count_active_products, .{ "ticket", "pass" });
    try edit.read(.count_addons, .{ item, "item" });
    try edit.read(.fee_by_id, .{1});
    try edit.read(.org_by_id, .{403});
    try edit.read(.org_by_id, .{418});
    try edit.read(.product_by_id, .{1});
    try edit.read(.fee_by_id, .{2});
    try edit.read(.count_fields, .{org});
    try edit.read(.count_item_fields, .{item});
    try edit.read(.count_fields, .{org});
    try edit.read(.count_active_discounts, .{org});
    try edit.read(.count_discount_items, .{item});
    try edit.read(.count_active_discounts, .{org});
    try edit.read(.theme_by_id, .{1});
    try edit.read(.count_notices, .{ "SE", "venue" });
    try edit.read(.count_config_issues, .{org});
    try edit.read(.count_items, .{org});
    try edit.read(.item_revision, .{item});
}

/// `i` goes into the title. After an error the transaction is rolled back.
pub fn adminItemUpdate(db: *Database, i: i64, item: i64) Error!u64 {
    return readAndUpdate(db, i, item) catch |reason| {
        if (!db.isAutocommit()) {
            const code = db.code;
            try db.execute(.rollback, .{});
            db.code = code;
        }
        return reason;
    };
}

fn readAndUpdate(db: *Database, i: i64, item: i64) Error!u64 {
    try db.execute(.begin_immediate, .{});
    var reader: Reader = .{ .db = db };
    try reader.read(.staff_by_id, .{1});
    const org = try reader.readFirst(.org_by_slug, .{slug});
    try reader.read(.item_by_org_and_id, .{ org, item });
    try reader.read(.count_addons, .{ item, "item" });
    try reader.read(.count_discount_items, .{item});
    try reader.read(.count_tags, .{org});
    var buffer: [48]u8 = undefined;
    const title = std.fmt.bufPrint(&buffer, "Updated item {d}", .{i}) catch unreachable; // it fits
    var k: i64 = 0;
    while (k < db.shape.writes) : (k += 1)
        try db.execute(.update_item, .{ title, @rem(item - 1 + k, db.shape.items()) + 1 });
    try db.execute(.commit, .{});
    return reader.sum;
}
