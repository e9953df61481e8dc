//! Workers at once for a fixed time, one thread and one connection each.
use crate::database::Database;
use crate::histogram::Histogram;
use crate::options::{Load, Options};
use crate::request::{admin_item_edit, admin_item_update};
use crate::{print_line, Failure, RUNNER};
use rusqlite::ErrorCode;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Barrier, OnceLock};
use std::time::Instant;

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

/// Ends the whole program at once: the other workers would wait for one that has gone.
fn end(Failure(message): Failure) -> ! {
    eprintln!("{RUNNER}: {message}");
    std::process::exit(1)
}

fn write_for_all(options: &Options, jobs: Receiver<Job>) {
    let mut db = Database::open(options).unwrap_or_else(|failure| end(failure));
    for Job { i, item, reply } in jobs {
        let result = admin_item_update(&mut db, i, item);
        reply.send(result).expect("a client waits for its result");
    }
    db.close().unwrap_or_else(|failure| end(failure));
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn work(run: &Run, index: usize, jobs: Option<SyncSender<Job>>) -> Outcome {
    let options = run.options;
    let mut target = match jobs {
        None => Target::Own(Database::open(options).unwrap_or_else(|failure| end(failure))),
        Some(jobs) => {
            let (reply, results) = sync_channel(1);
            Target::Writer { jobs, reply, results }
        }
    };
    run.barrier.wait();
    run.barrier.wait();
    let &(window_begin, window_end) = run.window.get().expect("set between the two passes");

    let mut outcome = Outcome { latencies: Histogram::new(), busy_waits: Histogram::new() };
    let mut finished = false;
    for i in 0.. {
        let start = Instant::now();
        // The load stays on until every request that started inside the window has ended.
        if start >= window_end && !finished {
            finished = true;
            run.finished.fetch_add(1, Ordering::SeqCst);
        }
        if finished && run.finished.load(Ordering::SeqCst) == options.workers {
            break;
        }
        let writes = match options.load {
            Load::Read => false,
            Load::Write | Load::SingleWriter => true,
            Load::Mixed => i % 10 == 9,
        };
        let result = target.send(writes, i, (37 * index as i64 + i) % 100 + 1);
        let took = start.elapsed().as_nanos() as u64;
        let busy = match result {
            Ok(_) => false,
            Err(error) if writes && is_busy(&error) => true,
            Err(error) => end(Failure::new(options.load.name(), error)),
        };
        if start >= window_begin && start < window_end {
            let histogram = if busy { &mut outcome.busy_waits } else { &mut outcome.latencies };
            histogram.record(took);
        }
    }
    if let Target::Own(db) = target {
        db.close().unwrap_or_else(|failure| end(failure));
    }
    outcome
}

/// Into the folder BENCHCTL_OUT, where there is one.
fn write_histogram_file(load: &str, suffix: &str, histogram: &Histogram) -> Result<(), Failure> {
    let folder = match std::env::var("BENCHCTL_OUT") {
        Ok(folder) if !folder.is_empty() && histogram.total > 0 => folder,
        _ => return Ok(()),
    };
    let path = format!("{folder}/{RUNNER}_app_request_{load}{suffix}.hist.csv");
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|file| histogram.write(&mut BufWriter::new(file)))
        .map_err(|error| Failure::new(&path, error))
}

fn print_row(options: &Options, latencies: &Histogram, errors: u64) -> Result<(), Failure> {
    let us = |ns: u64| ns as f64 / 1e3;
    let seconds = options.duration.as_secs_f64();
    print_line("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors")?;
    print_line(&format!(
        "{RUNNER}/app_request/{},{},{seconds:.3},{},{:.3},{:.3},{:.3},{:.3},{:.3},{errors}",
        options.load.name(),
        options.workers,
        latencies.total,
        latencies.total as f64 / seconds,
        us(latencies.percentile_ns(50)),
        us(latencies.percentile_ns(95)),
        us(latencies.percentile_ns(99)),
        us(latencies.max_ns),
    ))
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
    let mut total = Outcome { latencies: Histogram::new(), busy_waits: Histogram::new() };
    std::thread::scope(|scope| {
        let jobs = (options.load == Load::SingleWriter).then(|| {
            let (jobs, queue) = sync_channel(options.workers);
            scope.spawn(move || write_for_all(options, queue));
            jobs
        });
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
        }
    });
    write_histogram_file(options.load.name(), "", &total.latencies)?;
    write_histogram_file(options.load.name(), ".errors", &total.busy_waits)?;
    print_row(options, &total.latencies, total.busy_waits.total)
}
