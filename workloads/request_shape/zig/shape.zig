//! What of the request shape can be changed; the flags are those of ../sql/README.md.
const std = @import("std");
const options = @import("options.zig");

pub const ParentLookup = enum { recursive, application };
/// `default` is `fits` here: SQLite's own API keeps no statements, so that a program has to.
pub const StatementCache = enum { fits, default, none };

pub const Shape = struct {
    /// Factor on the tables that grow.
    rows: u32 = 1,
    extra_tables: c_int = 0,
    extra_indexes: c_int = 0,
    /// Of a request.
    reads: u32 = 26,
    writes: u32 = 1,
    parent_lookup: ParentLookup = .recursive,
    statement_cache: StatementCache = .fits,

    /// Takes one of the flags and its value. A wrong value ends the program as in options.parse().
    pub fn set(self: *Shape, flag: Flag, value: []const u8) void {
        const name = @tagName(flag);
        switch (flag) {
            .@"--rows" => self.rows = options.number(u32, name, value, 1, 1000),
            .@"--extra-tables" => self.extra_tables = options.number(c_int, name, value, 0, 1000),
            .@"--extra-indexes" => self.extra_indexes = options.number(c_int, name, value, 0, 64),
            .@"--reads" => self.reads = options.number(u32, name, value, 1, 1000),
            .@"--writes" => self.writes = options.number(u32, name, value, 1, 1000),
            .@"--parent-lookup" => self.parent_lookup = options.choice(ParentLookup, name, value),
            .@"--statement-cache" => self.statement_cache = options.choice(StatementCache, name, value),
        }
    }

    /// How many items there are: requests take them in turn.
    pub fn items(self: *const Shape) i64 {
        return 100 * @as(i64, self.rows);
    }

    /// The trace's first line; nothing for the default shape.
    pub fn write(self: *const Shape, out: *std.Io.Writer) std.Io.Writer.Error!void {
        if (std.meta.eql(self.*, .{})) return;
        try out.writeAll("shape");
        inline for (comptime std.meta.fieldNames(Shape), 0..) |name, i| {
            const value = @field(self, name);
            const format = if (@typeInfo(@TypeOf(value)) == .@"enum") "{t}" else "{d}";
            try out.print((if (i == 0) "\t" else " ") ++ name ++ "=" ++ format, .{value});
        }
        try out.writeAll("\n");
    }
};

pub const Flag = enum {
    @"--rows",
    @"--extra-tables",
    @"--extra-indexes",
    @"--reads",
    @"--writes",
    @"--parent-lookup",
    @"--statement-cache",
};

pub const help =
    \\  --rows F               factor on the tables that grow, 1 to 1000 (1)
    \\  --extra-tables N       more tables, 0 to 1000 (0)
    \\  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)
    \\  --reads N              reads of an edit, 1 to 1000 (26)
    \\  --writes N             updates of an update request, 1 to 1000 (1)
    \\  --parent-lookup L      recursive, or application: org by org (recursive)
    \\  --statement-cache C    fits, default (the driver's own) or none (fits)
;
