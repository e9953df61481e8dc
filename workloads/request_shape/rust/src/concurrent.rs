//! Workers at once for a fixed time, one thread and one connection each.
use crate::counts::Counts;
use crate::database::Database;
use crate::histogram::Histogram;
use crate::options::{Load, Options};
use crate::request::{admin_item_edit, admin_item_update};
use crate::{end, point, Failure};
use rusqlite::ErrorCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

/// single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes.
const WRITER_PATIENCE: Duration = Duration::from_secs(60);
/// open_read: above the slack of a timer (50 us) and what waking up costs.
const AWAKE_BEFORE_DUE: Duration = Duration::from_micros(200);

/// single_writer: an update handed to the thread that owns the one writing connection, and where its result goes.
struct Job {
    i: i64,
    item: i64,
    reply: SyncSender<rusqlite::Result<u64>>,
}

struct Run<'a> {
    options: &'a Options,
    barrier: Barrier,
    /// The measured window; set between the barrier's two passes.
    window: OnceLock<(Instant, Instant)>,
    /// Workers whose requests of the window have all ended.
    finished: AtomicUsize,
}

struct Outcome {
    latencies: Histogram,
    busy_waits: Histogram,
    counts: Option<Counts>,
}

impl Outcome {
    fn new() -> Self {
        Outcome { latencies: Histogram::new(), busy_waits: Histogram::new(), counts: None }
    }
}

/// Where a worker's requests go: its own connection, or the queue of the one writer.
enum Target {
    Own(Database),
    Writer { jobs: SyncSender<Job>, reply: SyncSender<rusqlite::Result<u64>>, results: Receiver<rusqlite::Result<u64>> },
}

impl Target {
    fn send(&mut self, writes: bool, i: i64, item: i64) -> rusqlite::Result<u64> {
        match self {
            Target::Own(db) if writes => admin_item_update(db, i, item),
            Target::Own(db) => admin_item_edit(db, item),
            Target::Writer { jobs, reply, results } => {
                let job = Job { i, item, reply: reply.clone() };
                jobs.send(job).expect("the writer outlives its clients");
                results.recv().expect("the writer answers every job")
            }
        }
    }
}

fn write_for_all(options: &Options, jobs: Receiver<Job>) -> Option<Counts> {
    let mut db = Database::open(options).unwrap_or_else(|failure| end(options, failure));
    db.wait_for_lock(WRITER_PATIENCE).unwrap_or_else(|failure| end(options, failure));
    for Job { i, item, reply } in jobs {
        let result = admin_item_update(&mut db, i, item);
        reply.send(result).expect("a client waits for its result");
    }
    db.close().unwrap_or_else(|failure| end(options, failure))
}

/// open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them in turn.
fn due(options: &Options, index: usize, i: i64) -> Duration {
    let k = i as u64 * options.workers as u64 + index as u64;
    let rate = options.rate as u64;
    Duration::from_nanos(k / rate * 1_000_000_000 + k % rate * 1_000_000_000 / rate)
}

/// Sleeps until shortly before, then asks the clock, so that the timer's slack is not measured.
fn wait_until(when: Instant) {
    loop {
        let left = when.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        match left.saturating_sub(AWAKE_BEFORE_DUE) {
            Duration::ZERO => std::thread::yield_now(),
            sleep => std::thread::sleep(sleep),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn work(run: &Run, index: usize, jobs: Option<SyncSender<Job>>) -> Outcome {
    let options = run.options;
    let mut target = match jobs {
        None => Target::Own(Database::open(options).unwrap_or_else(|failure| end(options, failure))),
        Some(jobs) => {
            let (reply, results) = sync_channel(1);
            Target::Writer { jobs, reply, results }
        }
    };
    run.barrier.wait();
    run.barrier.wait();
    let &(window_begin, window_end) = run.window.get().expect("set between the two passes");

    let mut outcome = Outcome::new();
    let mut finished = false;
    for i in 0.. {
        // An open loop's latency begins when the request is due: waiting for the one before is part of it.
        let start = match options.load {
            Load::OpenRead => window_begin - options.warmup + due(options, index, i),
            _ => Instant::now(),
        };
        // The load stays on until every request that started inside the window has ended.
        if start >= window_end && !finished {
            finished = true;
            run.finished.fetch_add(1, Ordering::SeqCst);
        }
        if finished && run.finished.load(Ordering::SeqCst) == options.workers {
            break;
        }
        if options.load == Load::OpenRead {
            wait_until(start);
        }
        let writes = match options.load {
            Load::Read | Load::OpenRead => false,
            Load::Write | Load::SingleWriter => true,
            Load::Mixed => i % 10 == 9,
        };
        let result = target.send(writes, i, (37 * index as i64 + i) % options.shape.items() + 1);
        let took = start.elapsed().as_nanos() as u64;
        let busy = match result {
            Ok(_) => false,
            Err(error) if writes && is_busy(&error) => true,
            Err(error) => end(options, Failure::new(options.load.name(), error)),
        };
        if start >= window_begin && start < window_end {
            let histogram = if busy { &mut outcome.busy_waits } else { &mut outcome.latencies };
            histogram.record(took);
        }
    }
    if let Target::Own(db) = target {
        outcome.counts = db.close().unwrap_or_else(|failure| end(options, failure));
    }
    outcome
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let db = Database::open(options)?;
    db.seed()?;
    db.close()?;

    let run = Run {
        options,
        barrier: Barrier::new(options.workers + 1),
        window: OnceLock::new(),
        finished: AtomicUsize::new(0),
    };
    let (mut total, mut counts) = (Outcome::new(), Vec::new());
    std::thread::scope(|scope| {
        let jobs = (options.load == Load::SingleWriter).then(|| {
            let (jobs, queue) = sync_channel(options.workers);
            (jobs, scope.spawn(move || write_for_all(options, queue)))
        });
        let (jobs, writer) = jobs.unzip();
        let run = &run;
        let workers: Vec<_> = (0..options.workers)
            .map(|index| {
                let jobs = jobs.clone();
                scope.spawn(move || work(run, index, jobs))
            })
            .collect();
        drop(jobs);
        // All connections are open: the clock starts.
        run.barrier.wait();
        let begin = Instant::now() + options.warmup;
        run.window.set((begin, begin + options.duration)).expect("set once");
        run.barrier.wait();
        for worker in workers {
            let outcome = worker.join().expect("a worker that fails ends the program");
            total.latencies.add(&outcome.latencies);
            total.busy_waits.add(&outcome.busy_waits);
            counts.extend(outcome.counts);
        }
        // It ends with the last of its clients.
        counts.extend(writer.and_then(|writer| writer.join().expect("a writer that fails ends the program")));
    });
    point::print(options, &total.latencies, &total.busy_waits)?;
    if let Some(mut all) = counts.pop() {
        counts.iter().for_each(|more| all.add(more));
        all.print();
    }
    Ok(())
}
