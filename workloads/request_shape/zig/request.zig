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

pub fn adminItemEdit(db: *Database, item: i64) Error!u64 {
    var reader: Reader = .{ .db = db };
    try reader.read(.staff_by_id, .{1});
    const org = try reader.readFirst(.org_by_slug, .{slug});
    try reader.read(.item_by_org_and_id, .{ org, item });
    try reader.read(.count_sponsors, .{org});
    try reader.read(.count_tags, .{org});
    try reader.read(.count_taxes, .{org});
    try reader.read(.sum_parent_chain, .{org});
    try reader.read(.count_active_fees, .{ 403, 411, 418 });
    try reader.read(.count_active_products, .{ "ticket", "pass" });
    try reader.read(.count_addons, .{ item, "item" });
    try reader.read(.fee_by_id, .{1});
    try reader.read(.org_by_id, .{403});
    try reader.read(.org_by_id, .{418});
    try reader.read(.product_by_id, .{1});
    try reader.read(.fee_by_id, .{2});
    try reader.read(.count_fields, .{org});
    try reader.read(.count_item_fields, .{item});
    try reader.read(.count_fields, .{org});
    try reader.read(.count_active_discounts, .{org});
    try reader.read(.count_discount_items, .{item});
    try reader.read(.count_active_discounts, .{org});
    try reader.read(.theme_by_id, .{1});
    try reader.read(.count_notices, .{ "SE", "venue" });
    try reader.read(.count_config_issues, .{org});
    try reader.read(.count_items, .{org});
    try reader.read(.item_revision, .{item});
    return reader.sum;
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
    try db.execute(.update_item, .{ title, item });
    try db.execute(.commit, .{});
    return reader.sum;
}
