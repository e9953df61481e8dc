//! A connection with its prepared statements. Each statement is prepared once, at its first use, and kept.
const std = @import("std");
const sql = @import("sql");
const sqlite = @import("sqlite3.zig");
const main = @import("main.zig");
const Options = @import("options.zig").Options;

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

pub const Database = struct {
    handle: ?*sqlite.Connection = null,
    statements: std.EnumArray(Statement, ?*sqlite.Stmt) = .initFill(null),
    /// SQLite's, of the last error.
    code: c_int = sqlite.OK,
    /// When set, every executed statement is printed there.
    trace: ?Trace = null,

    /// Opens the database and applies the pragmas. Prints the reason and exits on failure.
    pub fn open(options: *const Options) Database {
        var self: Database = .{};
        const flags = sqlite.OPEN_READWRITE | sqlite.OPEN_CREATE | sqlite.OPEN_NOMUTEX;
        self.must(options.path, sqlite.sqlite3_open_v2(options.path, &self.handle, flags, null));
        self.must(options.path, sqlite.sqlite3_extended_result_codes(self.handle, 1));
        self.runScript(options.path, sql.script("pragmas"));
        if (options.busy_timeout_ms) |ms| self.must(options.path, sqlite.sqlite3_busy_timeout(self.handle, ms));
        return self;
    }

    pub fn close(self: *Database) void {
        // The error of a statement's last run was reported then.
        for (self.statements.values) |statement| _ = sqlite.sqlite3_finalize(statement);
        self.must("close", sqlite.sqlite3_close(self.handle));
    }

    /// Creates and fills the tables in one transaction.
    pub fn seed(self: *Database) void {
        inline for (.{ "begin_immediate", "schema", "seed", "commit" }) |name| self.runScript("seed", sql.script(name));
    }

    /// The check sum of every row of every table.
    pub fn sumEveryRow(self: *Database) u64 {
        var sum: u64 = 0;
        var queries = std.mem.tokenizeScalar(u8, sql.script("every_row"), '\n');
        while (queries.next()) |text| {
            var prepared: ?*sqlite.Stmt = null;
            self.must("every_row", sqlite.sqlite3_prepare_v3(self.handle, text.ptr, @intCast(text.len), 0, &prepared, null));
            const statement = prepared.?;
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
        self.reset(statement);
        return row;
    }

    /// Runs a statement that reads nothing.
    pub fn execute(self: *Database, comptime which: Statement, values: anytype) Error!void {
        const statement = try self.bound(which, values);
        const rc = sqlite.sqlite3_step(statement);
        if (self.trace != null and rc == sqlite.DONE) self.note(which, values, false);
        self.reset(statement);
        if (rc != sqlite.DONE) return self.failure(rc);
    }

    /// Prints "zig_sqlite: <what>: <reason>" and ends the program with exit code 1; the database file stays as evidence.
    pub fn fail(self: *const Database, what: []const u8, reason: Error) noreturn {
        const text = if (reason == error.NoRow)
            "a row that must be there is missing"
            // The connection's own words are better, unless a rollback has replaced them since.
        else if (self.handle != null and sqlite.sqlite3_extended_errcode(self.handle) == self.code)
            std.mem.span(sqlite.sqlite3_errmsg(self.handle))
        else
            std.mem.span(sqlite.sqlite3_errstr(self.code));
        std.debug.print(main.runner ++ ": {s}: {s} (SQLite error {d})\n", .{ what, text, self.code });
        std.process.exit(1);
    }

    /// How often each statement was run and prepared again, one line each, on standard error.
    pub fn printStatementCounts(self: *const Database) void {
        for (std.enums.values(Statement)) |which| {
            const statement = self.statements.get(which) orelse continue;
            std.debug.print("{t} runs={d} prepared_again={d}\n", .{
                which,
                sqlite.sqlite3_stmt_status(statement, sqlite.STMTSTATUS_RUN, 0),
                sqlite.sqlite3_stmt_status(statement, sqlite.STMTSTATUS_REPREPARE, 0),
            });
        }
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

    fn runScript(self: *Database, what: []const u8, text: [:0]const u8) void {
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
        const rc = sqlite.sqlite3_prepare_v3(self.handle, text.ptr, size, sqlite.PREPARE_PERSISTENT, kept, null);
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

    fn reset(_: *Database, statement: *sqlite.Stmt) void {
        // It repeats the error of the run.
        _ = sqlite.sqlite3_reset(statement);
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
