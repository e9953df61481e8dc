//! The command line, the same in every runner.
const std = @import("std");
const runner = @import("main.zig").runner;
const shape = @import("shape.zig");

pub const Action = enum { sequential, concurrent, trace, info, histogram, help };
pub const Load = enum { read, write, mixed, single_writer, open_read };

pub const Options = struct {
    action: Action = .sequential,
    shape: shape.Shape = .{},
    items: i64 = 10_000,
    load: Load = .read,
    workers: u32 = 1,
    /// open_read: requests a second of all workers.
    rate: u32 = 1000,
    duration_ns: i64 = 5 * std.time.ns_per_s,
    warmup_ns: i64 = 1 * std.time.ns_per_s,
    /// Of the database.
    path: [:0]const u8 = "",
    /// null: that of pragmas.sql.
    busy_timeout_ms: ?c_int = null,
    /// Print how often each statement was prepared and ran, on standard error.
    statement_counts: bool = false,
};

/// What SQLite leaves beside a database: nothing, the log, its index.
pub const database_suffixes = [_][]const u8{ "", "-wal", "-shm" };

pub const help =
    runner ++ " --mode sequential [--items N]\n" ++
    runner ++ " --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup S]\n" ++
    runner ++ " --trace | --info | --histogram | --help\n" ++
    \\  --items N              requests of each kind, one after another (10000)
    \\  --workers W            threads, each with its own connection (1)
    \\  --duration S           measured window in seconds (5)
    \\  --warmup S             seconds before it (1)
    \\  --rate R               requests due a second, of all workers (open_read, 1000)
    \\  --db PATH              database to make, removed at the end (a fresh file in the working directory)
    \\  --busy-timeout-ms N    instead of the 5000 of the pragmas
    \\  --statement-counts     how often each statement was prepared and ran, on standard error
    \\  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers
    \\
    ++ shape.help;

/// A wrong argument: one line on standard error, exit code 2.
fn usage(comptime format: []const u8, values: anytype) noreturn {
    std.debug.print(runner ++ ": " ++ format ++ "; see --help\n", values);
    std.process.exit(2);
}

fn isDigits(text: []const u8, most: usize) bool {
    for (text) |byte| if (!std.ascii.isDigit(byte)) return false;
    return text.len > 0 and text.len <= most;
}

/// A decimal number of digits only, from `min` to `max`.
pub fn number(comptime T: type, flag: []const u8, text: []const u8, min: T, max: T) T {
    if (!isDigits(text, 15)) usage("{s}: '{s}' is not a whole number", .{ flag, text });
    const value = std.fmt.parseInt(i64, text, 10) catch unreachable; // 15 digits fit
    if (value < min or value > max) usage("{s}: {s} is not within {d} and {d}", .{ flag, text, min, max });
    return @intCast(value);
}

/// Seconds with at most three decimals, as nanoseconds: 5, 0.25, and 5s as plans write it.
fn seconds(flag: []const u8, text: []const u8, min_ms: i64) i64 {
    const plain = if (std.mem.endsWith(u8, text, "s")) text[0 .. text.len - 1] else text;
    const whole, const fraction = std.mem.cutScalar(u8, plain, '.') orelse .{ plain, "0" };
    if (!isDigits(whole, 5) or !isDigits(fraction, 3)) usage("{s}: '{s}' is not a number of seconds", .{ flag, text });
    var ms = std.fmt.parseInt(i64, whole, 10) catch unreachable; // at most 5 digits
    for (0..3) |i| ms = ms * 10 + if (i < fraction.len) fraction[i] - '0' else 0;
    if (ms < min_ms or ms > 3_600_000)
        usage("{s}: {s} is not within {s} and 3600 seconds", .{ flag, text, if (min_ms > 0) "0.001" else "0" });
    return ms * std.time.ns_per_ms;
}

pub fn choice(comptime T: type, flag: []const u8, text: []const u8) T {
    const names = comptime names: {
        var all: []const u8 = "";
        for (std.meta.fieldNames(T), 0..) |name, i| all = all ++ (if (i == 0) "" else ", ") ++ name;
        break :names all;
    };
    return std.meta.stringToEnum(T, text) orelse usage("{s}: '{s}' is none of " ++ names, .{ flag, text });
}

/// What a killed program has left is not ours to overwrite, and no new database may begin beside an old one's log.
fn refuseExisting(io: std.Io, path: []const u8) void {
    for (database_suffixes) |suffix| {
        var buffer: [std.fs.max_path_bytes]u8 = undefined;
        const name = std.fmt.bufPrint(&buffer, "{s}{s}", .{ path, suffix }) catch
            usage("--db: the path is too long", .{});
        if (std.Io.Dir.cwd().access(io, name, .{ .follow_symlinks = false })) {
            usage("--db: '{s}' exists already", .{name});
        } else |_| {}
    }
}

fn freshPath(io: std.Io) [:0]const u8 {
    const fresh = struct {
        var name: [96]u8 = undefined;
    };
    const values = .{ std.c.getpid(), std.Io.Clock.real.now(io).nanoseconds };
    return std.fmt.bufPrintSentinel(&fresh.name, runner ++ "-{d}-{d}.db", values, 0) catch unreachable; // it fits
}

const ActionFlag = enum { @"--trace", @"--info", @"--histogram" };
/// Those that take a value, beside the shape's.
const Flag = enum {
    @"--mode",
    @"--items",
    @"--workload",
    @"--workers",
    @"--duration",
    @"--warmup",
    @"--rate",
    @"--db",
    @"--busy-timeout-ms",
};

pub fn parse(io: std.Io, arguments: []const [:0]const u8) Options {
    var options: Options = .{};
    var mode: ?[]const u8 = null;
    var action: ?[]const u8 = null;
    var has_load = false;
    var i: usize = 0;
    while (i < arguments.len) : (i += 1) {
        const flag = arguments[i];
        if (std.mem.eql(u8, flag, "--help")) {
            options.action = .help;
            return options;
        } else if (std.meta.stringToEnum(ActionFlag, flag)) |wanted| {
            if (action) |other| usage("{s} and {s} exclude each other", .{ other, flag });
            options.action = switch (wanted) {
                .@"--trace" => .trace,
                .@"--info" => .info,
                .@"--histogram" => .histogram,
            };
            action = flag;
            continue;
        } else if (std.mem.eql(u8, flag, "--statement-counts")) {
            options.statement_counts = true;
            continue;
        }
        const known = std.meta.stringToEnum(Flag, flag);
        const of_shape = std.meta.stringToEnum(shape.Flag, flag);
        if (known == null and of_shape == null) usage("unknown argument '{s}'", .{flag});
        i += 1;
        if (i == arguments.len or arguments[i].len == 0) usage("{s} needs a value", .{flag});
        const value = arguments[i];
        if (of_shape) |its| options.shape.set(its, value);
        switch (known orelse continue) {
            .@"--mode" => mode = value,
            .@"--items" => options.items = number(i64, flag, value, 1, 1_000_000_000),
            .@"--workload" => {
                options.load = choice(Load, flag, value);
                has_load = true;
            },
            .@"--workers" => options.workers = number(u32, flag, value, 1, 4096),
            .@"--duration" => options.duration_ns = seconds(flag, value, 1),
            .@"--warmup" => options.warmup_ns = seconds(flag, value, 0),
            .@"--rate" => options.rate = number(u32, flag, value, 1, 10_000_000),
            .@"--db" => options.path = value,
            .@"--busy-timeout-ms" => options.busy_timeout_ms = number(c_int, flag, value, 0, 3_600_000),
        }
    }
    if (mode) |name| {
        if (action) |other| usage("{s} and --mode exclude each other", .{other});
        options.action = if (std.mem.eql(u8, name, "sequential"))
            .sequential
        else if (std.mem.eql(u8, name, "concurrent"))
            .concurrent
        else
            usage("--mode: '{s}' is neither sequential nor concurrent", .{name});
        if (options.action == .concurrent and !has_load) usage("--workload is missing", .{});
    } else if (action == null) usage("--mode is missing", .{});
    if (options.path.len == 0) options.path = freshPath(io);
    refuseExisting(io, options.path);
    return options;
}
