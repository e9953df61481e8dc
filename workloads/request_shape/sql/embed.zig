//! The files of this folder for Zig, which embeds only what lies beside the module that asks.

/// The statement of <name>.sql, without its line feed.
pub fn statement(comptime name: []const u8) [:0]const u8 {
    const text = script(name);
    return text[0 .. text.len - 1] ++ "";
}

/// The whole file <name>.sql.
pub fn script(comptime name: []const u8) [:0]const u8 {
    return @embedFile(name ++ ".sql");
}
