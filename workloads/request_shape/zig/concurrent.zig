//! Workers at once for a fixed time, one thread and one connection each.
const std = @import("std");
const main = @import("main.zig");
const request = @import("request.zig");
const point = @import("point.zig");
const Counts = @import("database.zig").Counts;
const Database = @import("database.zig").Database;
const Error = @import("database.zig").Error;
const Histogram = @import("histogram.zig").Histogram;
const Options = @import("options.zig").Options;

/// single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes.
const writer_patience_ms = 60_000;
/// open_read: above the slack of a timer (50 us) and what waking up costs.
const awake_before_due_ns = 200_000;

/// single_writer: an update handed to the thread that owns the one writing connection.
const Job = struct { i: i64, item: i64, busy: bool = false, done: std.Io.Event = .unset };

const Run = struct {
    io: std.Io,
    options: *const Options,
    /// One permit for each worker whose connection is open.
    opened: std.Io.Semaphore = .{},
    started: std.Io.Event = .unset,
    /// The measured window; set before `started`.
    begin_ns: i64 = 0,
    end_ns: i64 = 0,
    /// Workers whose requests of the window have all ended.
    finished: std.atomic.Value(u32) = .init(0),
    jobs: std.Io.Queue(*Job),
    /// Of single_writer's connection.
    writer_counts: Counts = .{},

    fn nowNs(self: *const Run) i64 {
        return @intCast(std.Io.Clock.awake.now(self.io).nanoseconds);
    }
};

const Outcome = struct { latencies: Histogram = .{}, busy_waits: Histogram = .{}, counts: Counts = .{} };

fn writeForAll(run: *Run) void {
    var patient = run.options.*;
    patient.busy_timeout_ms = writer_patience_ms;
    var db: Database = .open(&patient);
    while (run.jobs.getOneUncancelable(run.io)) |job| {
        job.busy = isBusy(&db, request.adminItemUpdate(&db, job.i, job.item), "single_writer");
        job.done.set(run.io);
    } else |closed| switch (closed) {
        error.Closed => {
            db.close();
            run.writer_counts = db.counts;
        },
    }
}

/// Whether a write waited for the lock in vain. Every other error ends the program.
fn isBusy(db: *Database, result: Error!u64, what: []const u8) bool {
    _ = result catch |reason| switch (reason) {
        error.Busy => return true,
        else => db.fail(what, reason),
    };
    return false;
}

fn submit(run: *Run, i: i64, item: i64) bool {
    var job: Job = .{ .i = i, .item = item };
    run.jobs.putOneUncancelable(run.io, &job) catch unreachable; // closed only when all workers have ended
    job.done.waitUncancelable(run.io);
    return job.busy;
}

/// Sends request `i` of a worker; whether it failed busy.
fn send(run: *Run, db: ?*Database, writes: bool, i: i64, item: i64) bool {
    const own = db orelse return submit(run, i, item);
    if (writes) return isBusy(own, request.adminItemUpdate(own, i, item), @tagName(run.options.load));
    _ = request.adminItemEdit(own, item) catch |reason| own.fail(@tagName(run.options.load), reason);
    return false;
}

/// open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them in turn.
fn dueNs(run: *const Run, index: i64, i: i64) i64 {
    const k = i * run.options.workers + index;
    const rate: i64 = run.options.rate;
    const after = @divTrunc(k, rate) * std.time.ns_per_s + @divTrunc(@rem(k, rate) * std.time.ns_per_s, rate);
    return run.begin_ns - run.options.warmup_ns + after;
}

/// Sleeps until shortly before, then asks the clock, so that the timer's slack is not measured.
fn waitUntil(run: *const Run, ns: i64) void {
    while (true) {
        const left = ns - run.nowNs();
        if (left <= 0) return;
        // Woken early or no turn to give up: the loop asks the clock.
        if (left > awake_before_due_ns)
            run.io.sleep(.fromNanoseconds(left - awake_before_due_ns), .awake) catch {}
        else
            std.Thread.yield() catch {};
    }
}

fn work(run: *Run, index: i64, outcome: *Outcome) void {
    var connection: ?Database = if (run.options.load == .single_writer) null else .open(run.options);
    const db: ?*Database = if (connection) |*own| own else null;
    run.opened.post(run.io);
    run.started.waitUncancelable(run.io);

    var finished = false;
    var i: i64 = 0;
    while (true) : (i += 1) {
        // An open loop's latency begins when the request is due: waiting for the one before is part of it.
        const start = if (run.options.load == .open_read) dueNs(run, index, i) else run.nowNs();
        // The load stays on until every request that started inside the window has ended.
        if (start >= run.end_ns and !finished) {
            finished = true;
            _ = run.finished.fetchAdd(1, .seq_cst);
        }
        if (finished and run.finished.load(.seq_cst) == run.options.workers) break;
        if (run.options.load == .open_read) waitUntil(run, start);
        const writes = switch (run.options.load) {
            .read, .open_read => false,
            .write, .single_writer => true,
            .mixed => @rem(i, 10) == 9,
        };
        const busy = send(run, db, writes, i, @rem(37 * index + i, run.options.shape.items()) + 1);
        const took: u64 = @intCast(run.nowNs() - start);
        if (start < run.begin_ns or start >= run.end_ns) continue;
        const histogram = if (busy) &outcome.busy_waits else &outcome.latencies;
        histogram.record(took);
    }
    if (db) |own| {
        own.close();
        outcome.counts = own.counts;
    }
}

fn spawn(comptime body: anytype, arguments: anytype) std.Thread {
    return std.Thread.spawn(.{}, body, arguments) catch |reason| main.fail("threads", reason);
}

pub fn runConcurrent(init: std.process.Init, options: *const Options) void {
    const io = init.io;
    var db: Database = .open(options);
    db.seed();
    db.close();

    const memory = init.arena.allocator();
    const queued = memory.alloc(*Job, options.workers) catch |reason| main.fail("workers", reason);
    const threads = memory.alloc(std.Thread, options.workers) catch |reason| main.fail("workers", reason);
    const outcomes = memory.alloc(Outcome, options.workers) catch |reason| main.fail("workers", reason);
    var state: Run = .{ .io = io, .options = options, .jobs = .init(queued) };
    const writer: ?std.Thread = if (options.load == .single_writer) spawn(writeForAll, .{&state}) else null;
    for (threads, outcomes, 0..) |*thread, *outcome, index| {
        outcome.* = .{};
        thread.* = spawn(work, .{ &state, @as(i64, @intCast(index)), outcome });
    }
    // All connections are open: the clock starts.
    for (threads) |_| state.opened.waitUncancelable(io);
    state.begin_ns = state.nowNs() + options.warmup_ns;
    state.end_ns = state.begin_ns + options.duration_ns;
    state.started.set(io);

    var total: Outcome = .{};
    for (threads, outcomes) |thread, *outcome| {
        thread.join();
        total.latencies.add(&outcome.latencies);
        total.busy_waits.add(&outcome.busy_waits);
        total.counts.add(&outcome.counts);
    }
    state.jobs.close(io);
    if (writer) |thread| thread.join();
    total.counts.add(&state.writer_counts);
    point.printPoint(init, options, &total.latencies, &total.busy_waits);
    if (options.statement_counts) total.counts.print();
}
