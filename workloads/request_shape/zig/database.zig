//! A connection with its prepared statements. Each is prepared at its first use and kept, unless the shape wants none kept.
const std = @import("std");
const sql = @import("sql");
const sqlite = @import("sqlite3.zig");
const main = @import("main.zig");
const Options = @import("options.zig").Options;
const Shape = @import("shape.zig").Shape;

/// The statements of the requests; the SQL of each is the file sql/<name>.sql.
pub const Statement = enum {
    begin_immediate,
    commit,
    rollback,
    staff_by_id,
    org_by_slug,
    item_by_org_and_id,
    count_sponsors,
    count_tags,
    count_taxes,
    sum_parent_chain,
    count_active_fees,
    count_active_products,
    count_addons,
    fee_by_id,
    org_by_id,
    product_by_id,
    count_fields,
    count_item_fields,
    count_active_discounts,
    count_discount_items,
    theme_by_id,
    count_notices,
    count_config_issues,
    count_items,
    item_revision,
    update_item,
    parent_of_org,
};

pub const statement_count = std.enums.values(Statement).len;

const sql_of = blk: {
    var texts: std.EnumArray(Statement, [:0]const u8) = .initUndefined();
    for (std.enums.values(Statement)) |statement| texts.set(statement, sql.statement(@tagName(statement)));
    break :blk texts;
};

/// Busy: another connection held the lock for the whole busy timeout. The code of a Sqlite error is in `Database.code`.
pub const Error = error{ Busy, NoRow, Sqlite };

/// What a query read: its first column as an integer, and the sum of all for the check.
pub const Row = struct { first: i64, sum: u64 };

const Written = std.Io.Writer.Error!void;
const Trace = struct { out: *std.Io.Writer, request: []const u8, step: u32 = 0 };

/// How often each statement was prepared, also by SQLite itself, and run. Complete when the connection is closed.
pub const Counts = struct {
    prepared: std.EnumArray(Statement, i64) = .initFill(0),
    runs: std.EnumArray(Statement, i64) = .initFill(0),

    pub fn add(self: *Counts, other: *const Counts) void {
        for (&self.prepared.values, other.prepared.values) |*count, more| count.* += more;
        for (&self.runs.values, other.runs.values) |*count, more| count.* += more;
    }

    /// One line a statement that ran, on standard error.
    pub fn print(self: *const Counts) void {
        for (std.enums.values(Statement)) |which| {
            const runs = self.runs.get(which);
            if (runs > 0) std.debug.print("{t} prepared={d} runs={d}\n", .{ which, self.prepared.get(which), runs });
        }
    }
};

pub const Database = struct {
    shape: *const Shape,
    counts: Counts = .{},
    handle: ?*sqlite.Connection = null,
    statements: std.EnumArray(Statement, ?*sqlite.Stmt) = .initFill(null),
    /// SQLite's, of the last error.
    code: c_int = sqlite.OK,
    /// When set, every executed statement is printed there.
    trace: ?Trace = null,

    /// Opens the database and applies the pragmas. Prints the reason and exits on failure.
    pub fn open(options: *const Options) Database {
        var self: Database = .{ .shape = &options.shape };
        const flags = sqlite.OPEN_READWRITE | sqlite.OPEN_CREATE | sqlite.OPEN_NOMUTEX;
        self.must(options.path, sqlite.sqlite3_open_v2(options.path, &self.handle, flags, null));
        self.must(options.path, sqlite.sqlite3_extended_result_codes(self.handle, 1));
        self.runScript(options.path, sql.script("pragmas"));
        if (options.busy_timeout_ms) |ms| self.must(options.path, sqlite.sqlite3_busy_timeout(self.handle, ms));
        return self;
    }

    pub fn close(self: *Database) void {
        for (std.enums.values(Statement)) |which| self.finalize(which);
        self.must("close", sqlite.sqlite3_close(self.handle));
    }

    /// Creates and fills the tables in one transaction.
    pub fn seed(self: *Database) void {
        var buffer: [48]u8 = undefined;
        const rows = std.fmt.bufPrintSentinel(&buffer, "PRAGMA user_version={d}", .{self.shape.rows}, 0) catch unreachable; // it fits
        self.runScript("seed", sql.script("begin_immediate"));
        self.runScript("seed", rows);
        self.runScript("schema", sql.script("schema"));
        if (self.shape.extra_tables > 0 or self.shape.extra_indexes > 0) self.extendSchema();
        self.runScript("seed", sql.script("seed"));
        self.runScript("seed", sql.script("commit"));
    }

    /// Runs the script that a query has written.
    fn extendSchema(self: *Database) void {
        const what = "extra_schema";
        const statement = self.prepareOnce(what, sql.script(what));
        self.must(what, sqlite.sqlite3_bind_int64(statement, 1, self.shape.extra_tables));
        self.must(what, sqlite.sqlite3_bind_int64(statement, 2, self.shape.extra_indexes));
        if (sqlite.sqlite3_step(statement) == sqlite.ROW) {
            if (sqlite.sqlite3_column_text(statement, 0)) |script| self.runScript(what, script);
        }
        self.must(what, sqlite.sqlite3_finalize(statement));
    }

    fn prepareOnce(self: *Database, what: []const u8, text: []const u8) *sqlite.Stmt {
        var statement: ?*sqlite.Stmt = null;
        self.must(what, sqlite.sqlite3_prepare_v3(self.handle, text.ptr, @intCast(text.len), 0, &statement, null));
        return statement.?;
    }

    /// The check sum of every row of every table.
    pub fn sumEveryRow(self: *Database) u64 {
        var sum: u64 = 0;
        var queries = std.mem.tokenizeScalar(u8, sql.script("every_row"), '\n');
        while (queries.next()) |text| {
            const statement = self.prepareOnce("every_row", text);
            while (sqlite.sqlite3_step(statement) == sqlite.ROW) sum +%= sumColumns(statement);
            self.must("every_row", sqlite.sqlite3_finalize(statement));
        }
        return sum;
    }

    /// Reads the first row. `values` is a tuple of integers and strings.
    pub fn query(self: *Database, comptime which: Statement, values: anytype) Error!Row {
        const statement = try self.bound(which, values);
        const row = self.firstRow(statement);
        if (self.trace != null) self.note(which, values, row != error.NoRow);
        self.release(which, statement);
        return row;
    }

    /// Runs a statement that reads nothing.
    pub fn execute(self: *Database, comptime which: Statement, values: anytype) Error!void {
        const statement = try self.bound(which, values);
        const rc = sqlite.sqlite3_step(statement);
        if (self.trace != null and rc == sqlite.DONE) self.note(which, values, false);
        self.release(which, statement);
        if (rc != sqlite.DONE) return self.failure(rc);
    }

    /// Prints "zig_sqlite: <what>: <reason>" and ends the program with exit code 1.
    pub fn fail(self: *const Database, what: []const u8, reason: Error) noreturn {
        const text = if (reason == error.NoRow)
            "a row that must be there is missing"
            // The connection's own words are better, unless a rollback has replaced them since.
        else if (self.handle != null and sqlite.sqlite3_extended_errcode(self.handle) == self.code)
            std.mem.span(sqlite.sqlite3_errmsg(self.handle))
        else
            std.mem.span(sqlite.sqlite3_errstr(self.code));
        main.end("{s}: {s} (SQLite error {d})", .{ what, text, self.code });
    }

    /// Whether no transaction is open.
    pub fn isAutocommit(self: *const Database) bool {
        return sqlite.sqlite3_get_autocommit(self.handle) != 0;
    }

    /// Rows changed since the connection was opened.
    pub fn countChanges(self: *const Database) u64 {
        return @intCast(sqlite.sqlite3_total_changes64(self.handle));
    }

    fn failure(self: *Database, rc: c_int) Error {
        self.code = rc;
        return if (rc & 0xff == sqlite.BUSY) error.Busy else error.Sqlite;
    }

    fn must(self: *Database, what: []const u8, rc: c_int) void {
        if (rc != sqlite.OK) self.fail(what, self.failure(rc));
    }

    fn runScript(self: *Database, what: []const u8, text: [*:0]const u8) void {
        self.must(what, sqlite.sqlite3_exec(self.handle, text, null, null, null));
    }

    /// The statement, prepared at its first use, with `values` bound.
    inline fn bound(self: *Database, comptime which: Statement, values: anytype) Error!*sqlite.Stmt {
        const statement = self.statements.get(which) orelse try self.prepare(which);
        inline for (values, 1..) |value, i| {
            const rc = switch (@typeInfo(@TypeOf(value))) {
                .int, .comptime_int => sqlite.sqlite3_bind_int64(statement, i, value),
                // The text outlives the statement's run, so SQLite need not copy it.
                else => sqlite.sqlite3_bind_text(statement, i, value.ptr, @intCast(value.len), null),
            };
            if (rc != sqlite.OK) return self.failure(rc);
        }
        return statement;
    }

    fn prepare(self: *Database, which: Statement) Error!*sqlite.Stmt {
        const text = sql_of.get(which);
        const kept = self.statements.getPtr(which);
        const size: c_int = @intCast(text.len + 1); // with its null
        const flags: c_uint = if (self.shape.statement_cache == .none) 0 else sqlite.PREPARE_PERSISTENT;
        const rc = sqlite.sqlite3_prepare_v3(self.handle, text.ptr, size, flags, kept, null);
        if (rc != sqlite.OK) return self.failure(rc);
        return kept.*.?;
    }

    fn firstRow(self: *Database, statement: *sqlite.Stmt) Error!Row {
        return switch (sqlite.sqlite3_step(statement)) {
            sqlite.ROW => .{ .first = sqlite.sqlite3_column_int64(statement, 0), .sum = sumColumns(statement) },
            sqlite.DONE => error.NoRow,
            else => |rc| self.failure(rc),
        };
    }

    /// After a run: its error, which both calls repeat, is known.
    fn release(self: *Database, which: Statement, statement: *sqlite.Stmt) void {
        if (self.shape.statement_cache == .none) self.finalize(which) else _ = sqlite.sqlite3_reset(statement);
    }

    fn finalize(self: *Database, which: Statement) void {
        const statement = self.statements.get(which) orelse return;
        const again = sqlite.sqlite3_stmt_status(statement, sqlite.STMTSTATUS_REPREPARE, 0);
        self.counts.prepared.getPtr(which).* += 1 + again;
        self.counts.runs.getPtr(which).* += sqlite.sqlite3_stmt_status(statement, sqlite.STMTSTATUS_RUN, 0);
        _ = sqlite.sqlite3_finalize(statement);
        self.statements.set(which, null);
    }

    fn note(self: *Database, which: Statement, values: anytype, has_row: bool) void {
        const trace = &self.trace.?;
        trace.step += 1;
        self.writeNote(trace, which, values, has_row) catch main.outputFailed();
    }

    fn writeNote(self: *Database, trace: *const Trace, which: Statement, values: anytype, has_row: bool) Written {
        const out = trace.out;
        const statement = self.statements.get(which).?;
        try out.print("{s}\t{d}\t{t}\t{s}\t", .{ trace.request, trace.step, which, sql_of.get(which) });
        inline for (values, 0..) |value, i| {
            if (i > 0) try out.writeAll(", ");
            switch (@typeInfo(@TypeOf(value))) {
                .int, .comptime_int => try out.print("{d}", .{value}),
                else => try writeText(out, value),
            }
        }
        try out.writeAll(if (values.len > 0) "\t" else "-\t");
        if (!has_row) return out.writeAll("-\n");
        for (0..@intCast(sqlite.sqlite3_column_count(statement))) |i| {
            if (i > 0) try out.writeAll(", ");
            try writeColumn(out, statement, @intCast(i));
        }
        try out.writeAll("\n");
    }
};

fn textOf(statement: *sqlite.Stmt, i: c_int) []const u8 {
    const bytes = sqlite.sqlite3_column_text(statement, i) orelse return "";
    return bytes[0..@intCast(sqlite.sqlite3_column_bytes(statement, i))];
}

fn blobOf(statement: *sqlite.Stmt, i: c_int) []const u8 {
    const bytes = sqlite.sqlite3_column_blob(statement, i) orelse return "";
    return bytes[0..@intCast(sqlite.sqlite3_column_bytes(statement, i))];
}

fn fnv1a(bytes: []const u8) u64 {
    var hash: u64 = 0xcbf29ce484222325;
    for (bytes) |byte| hash = (hash ^ byte) *% 0x100000001b3;
    return hash;
}

fn sumColumns(statement: *sqlite.Stmt) u64 {
    var sum: u64 = 0;
    var i: c_int = 0;
    const columns = sqlite.sqlite3_column_count(statement);
    while (i < columns) : (i += 1) {
        sum +%= switch (sqlite.sqlite3_column_type(statement, i)) {
            sqlite.INTEGER => @bitCast(sqlite.sqlite3_column_int64(statement, i)),
            sqlite.TEXT => fnv1a(textOf(statement, i)),
            sqlite.BLOB => fnv1a(blobOf(statement, i)),
            else => 0,
        };
    }
    return sum;
}

fn writeText(out: *std.Io.Writer, text: []const u8) Written {
    try out.writeByte('\'');
    for (text) |byte| try out.writeAll(if (byte == '\'') "''" else &.{byte});
    try out.writeByte('\'');
}

fn writeColumn(out: *std.Io.Writer, statement: *sqlite.Stmt, i: c_int) Written {
    switch (sqlite.sqlite3_column_type(statement, i)) {
        sqlite.INTEGER => try out.print("{d}", .{sqlite.sqlite3_column_int64(statement, i)}),
        sqlite.TEXT => try writeText(out, textOf(statement, i)),
        sqlite.BLOB => try out.print("X'{x}'", .{blobOf(statement, i)}),
        else => try out.writeAll("NULL"),
    }
}
