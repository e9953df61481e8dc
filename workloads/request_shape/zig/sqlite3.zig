//! What the requests need of SQLite's C API, declared by hand: types that say more than a translated header would (what may
//! be null, where text ends), and no compiler of C headers to build first.

pub const Connection = opaque {};
pub const Stmt = opaque {};

pub const OK = 0;
pub const BUSY = 5;
pub const ROW = 100;
pub const DONE = 101;

pub const INTEGER = 1;
pub const TEXT = 3;
pub const BLOB = 4;

pub const OPEN_READWRITE = 0x2;
pub const OPEN_CREATE = 0x4;
pub const OPEN_NOMUTEX = 0x8000;
pub const PREPARE_PERSISTENT = 0x1;
pub const STMTSTATUS_REPREPARE = 5;
pub const STMTSTATUS_RUN = 6;

/// null: SQLITE_STATIC, the bytes outlive the binding.
pub const Destructor = ?*const fn (?*anyopaque) callconv(.c) void;

pub extern fn sqlite3_libversion() [*:0]const u8;
pub extern fn sqlite3_sourceid() [*:0]const u8;
pub extern fn sqlite3_compileoption_get(n: c_int) ?[*:0]const u8;

pub extern fn sqlite3_open_v2(path: [*:0]const u8, db: *?*Connection, flags: c_int, vfs: ?[*:0]const u8) c_int;
pub extern fn sqlite3_close(db: ?*Connection) c_int;
pub extern fn sqlite3_extended_result_codes(db: ?*Connection, on: c_int) c_int;
pub extern fn sqlite3_busy_timeout(db: ?*Connection, ms: c_int) c_int;
pub extern fn sqlite3_exec(
    db: ?*Connection,
    sql: [*:0]const u8,
    callback: ?*const anyopaque,
    context: ?*anyopaque,
    message: ?*[*:0]u8,
) c_int;
pub extern fn sqlite3_get_autocommit(db: ?*Connection) c_int;
pub extern fn sqlite3_total_changes64(db: ?*Connection) i64;
pub extern fn sqlite3_extended_errcode(db: ?*Connection) c_int;
pub extern fn sqlite3_errmsg(db: ?*Connection) [*:0]const u8;
pub extern fn sqlite3_errstr(code: c_int) [*:0]const u8;

pub extern fn sqlite3_prepare_v3(
    db: ?*Connection,
    sql: [*]const u8,
    size: c_int,
    flags: c_uint,
    statement: *?*Stmt,
    tail: ?*[*]const u8,
) c_int;
pub extern fn sqlite3_bind_int64(statement: *Stmt, i: c_int, value: i64) c_int;
pub extern fn sqlite3_bind_text(statement: *Stmt, i: c_int, text: [*]const u8, size: c_int, destructor: Destructor) c_int;
pub extern fn sqlite3_step(statement: *Stmt) c_int;
pub extern fn sqlite3_reset(statement: *Stmt) c_int;
pub extern fn sqlite3_finalize(statement: ?*Stmt) c_int;
pub extern fn sqlite3_stmt_status(statement: *Stmt, counter: c_int, reset: c_int) c_int;

pub extern fn sqlite3_column_count(statement: *Stmt) c_int;
pub extern fn sqlite3_column_type(statement: *Stmt, i: c_int) c_int;
pub extern fn sqlite3_column_int64(statement: *Stmt, i: c_int) i64;
pub extern fn sqlite3_column_text(statement: *Stmt, i: c_int) ?[*:0]const u8;
pub extern fn sqlite3_column_blob(statement: *Stmt, i: c_int) ?[*]const u8;
pub extern fn sqlite3_column_bytes(statement: *Stmt, i: c_int) c_int;
