//// Workers at once for a fixed time, one process and one connection each.

import gleam/erlang/process.{type Subject}
import gleam/int
import gleam/list
import gleam/option.{type Option, None, Some}
import gleam/result
import runner/counts.{type Counts}
import runner/database.{type Database, type SqlError}
import runner/histogram.{type Histogram}
import runner/options.{type Options, Mixed, OpenRead, Options, Read, SingleWriter, Write}
import runner/point
import runner/request
import runner/shape
import runner/system.{type Counter}

/// single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes.
const writer_patience_ms = 60_000

/// open_read: timers of the BEAM are of whole milliseconds.
const awake_before_due_ms = 1

const sqlite_busy = 5

/// single_writer: an update handed to the process that owns the one writing connection, and where its result goes.
type Job {
  Job(i: Int, item: Int, reply: Subject(Result(Nil, SqlError)))
  Stop
}

/// What processes tell the main one. A failure ends the program: the others would wait for one that has gone.
type News {
  /// Its connection is open, or it needs none; it starts when it is told the measured window.
  Opened(start: Subject(Window))
  WriterOpened(jobs: Subject(Job))
  Ended(latencies: Histogram, busy_waits: Histogram, counts: Counts)
  Failed(message: String)
}

type Window {
  Window(begin_ns: Int, end_ns: Int)
}

/// Where a worker's requests go: its own connection, or the queue of the one writer.
type Target {
  Own(Database)
  Writer(jobs: Subject(Job), reply: Subject(Result(Nil, SqlError)))
}

type Worker {
  Worker(
    options: Options,
    index: Int,
    target: Target,
    window: Window,
    /// Workers whose requests of the window have all ended.
    finished: Counter,
  )
}

fn is_write(load: options.Load, i: Int) -> Bool {
  case load {
    Read | OpenRead -> False
    Write | SingleWriter -> True
    Mixed -> i % 10 == 9
  }
}

fn send_request(worker: Worker, i: Int) -> Result(Nil, SqlError) {
  let item = { 37 * worker.index + i } % shape.item_count(worker.options.shape) + 1
  case worker.target, is_write(worker.options.load, i) {
    Own(db), True -> request.admin_item_update(db, i, item) |> result.replace(Nil)
    Own(db), False -> request.admin_item_edit(db, item) |> result.replace(Nil)
    Writer(jobs, reply), _ -> {
      process.send(jobs, Job(i, item, reply))
      process.receive_forever(reply)
    }
  }
}

/// open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them in turn.
fn due_ns(worker: Worker, i: Int) -> Int {
  let options = worker.options
  let k = i * options.workers + worker.index
  worker.window.begin_ns - options.warmup_ms * 1_000_000 + k * 1_000_000_000 / options.rate
}

/// Sleeps until shortly before, then asks the clock, giving up its turn each time.
fn wait_until(ns: Int) -> Nil {
  case { ns - system.now_ns() } {
    left if left <= 0 -> Nil
    left -> {
      case left / 1_000_000 - awake_before_due_ms {
        ms if ms > 0 -> process.sleep(ms)
        _ -> system.yield()
      }
      wait_until(ns)
    }
  }
}

/// What request i shows.
type Sent {
  Succeeded(start: Int, took: Int)
  StayedBusy(start: Int, took: Int)
  Broke(SqlError)
}

fn time_request(worker: Worker, i: Int, start: Int) -> Sent {
  let sent = send_request(worker, i)
  let took = system.now_ns() - start
  case sent {
    Ok(_) -> Succeeded(start, took)
    Error(error) ->
      case is_write(worker.options.load, i) && int.bitwise_and(error.code, 0xff) == sqlite_busy {
        True -> StayedBusy(start, took)
        False -> Broke(error)
      }
  }
}

fn work(
  worker: Worker,
  i: Int,
  finished: Bool,
  latencies: Histogram,
  busy_waits: Histogram,
) -> Result(#(Histogram, Histogram), SqlError) {
  let open = worker.options.load == OpenRead
  // An open loop's latency begins when the request is due: waiting for the one before is part of it.
  let start = case open {
    True -> due_ns(worker, i)
    False -> system.now_ns()
  }
  // The load stays on until every request that started inside the window has ended.
  let ends_now = start >= worker.window.end_ns && !finished
  case ends_now {
    True -> system.increase(worker.finished)
    False -> 0
  }
  let finished = finished || ends_now
  case finished && system.value(worker.finished) == worker.options.workers {
    True -> Ok(#(latencies, busy_waits))
    False -> {
      case open {
        True -> wait_until(start)
        False -> Nil
      }
      case time_request(worker, i, start) {
        Broke(error) -> Error(error)
        Succeeded(start, took) if start >= worker.window.begin_ns && start < worker.window.end_ns ->
          work(worker, i + 1, finished, histogram.record(latencies, took), busy_waits)
        StayedBusy(start, took) if start >= worker.window.begin_ns && start < worker.window.end_ns ->
          work(worker, i + 1, finished, latencies, histogram.record(busy_waits, took))
        _ -> work(worker, i + 1, finished, latencies, busy_waits)
      }
    }
  }
}

/// A worker's process, from its connection's opening to its closing.
fn run_worker(
  options: Options,
  index: Int,
  jobs: Option(Subject(Job)),
  finished: Counter,
  main: Subject(News),
) -> Result(Nil, String) {
  use target <- result.try(case jobs {
    Some(jobs) -> Ok(Writer(jobs, process.new_subject()))
    None -> database.open(options) |> result.map(Own)
  })
  let start = process.new_subject()
  process.send(main, Opened(start))
  let window = process.receive_forever(start)
  use #(latencies, busy_waits) <- result.try(
    work(Worker(options, index, target, window, finished), 0, False, histogram.new(), histogram.new())
    |> result.map_error(database.explain(options.load_name(options.load))),
  )
  use _ <- result.map(case target {
    Own(db) -> database.close(db)
    Writer(_, _) -> Ok(Nil)
  })
  process.send(main, Ended(latencies, busy_waits, database.counts()))
}

/// The process that owns the one writing connection.
fn run_writer(options: Options, main: Subject(News)) -> Result(Nil, String) {
  use db <- result.try(database.open(Options(..options, busy_timeout_ms: Some(writer_patience_ms))))
  let jobs = process.new_subject()
  process.send(main, WriterOpened(jobs))
  serve(db, jobs)
  use _ <- result.map(database.close(db))
  process.send(main, Ended(histogram.new(), histogram.new(), database.counts()))
}

fn serve(db: Database, jobs: Subject(Job)) -> Nil {
  case process.receive_forever(jobs) {
    Stop -> Nil
    Job(i, item, reply) -> {
      process.send(reply, request.admin_item_update(db, i, item) |> result.replace(Nil))
      serve(db, jobs)
    }
  }
}

fn start_process(main: Subject(News), body: fn() -> Result(Nil, String)) -> Nil {
  process.spawn(fn() {
    case body() {
      Ok(_) -> Nil
      Error(message) -> process.send(main, Failed(message))
    }
  })
  Nil
}

/// The next of what the processes tell, unless it is a failure.
fn next_news(main: Subject(News)) -> Result(News, String) {
  case process.receive_forever(main) {
    Failed(message) -> Error(message)
    news -> Ok(news)
  }
}

fn collect(main: Subject(News), count: Int, done: List(News)) -> Result(List(News), String) {
  case count {
    0 -> Ok(done)
    _ -> {
      use news <- result.try(next_news(main))
      collect(main, count - 1, [news, ..done])
    }
  }
}

fn start_writer(options: Options, main: Subject(News)) -> Result(Option(Subject(Job)), String) {
  case options.load {
    SingleWriter -> {
      start_process(main, fn() { run_writer(options, main) })
      use news <- result.map(next_news(main))
      case news {
        WriterOpened(jobs) -> Some(jobs)
        _ -> None
      }
    }
    _ -> Ok(None)
  }
}

fn total(ended: List(News)) -> #(Histogram, Histogram, Counts) {
  use #(latencies, busy_waits, counted), news <- list.fold(ended, #(histogram.new(), histogram.new(), []))
  case news {
    Ended(more, waits, other) -> #(
      histogram.add(latencies, more),
      histogram.add(busy_waits, waits),
      counts.add(counted, other),
    )
    _ -> #(latencies, busy_waits, counted)
  }
}

pub fn run(options: Options) -> Result(Nil, String) {
  use db <- result.try(database.open(options))
  use _ <- result.try(database.seed(db))
  use _ <- result.try(database.close(db))

  let main = process.new_subject()
  let finished = system.new_counter()
  use writer <- result.try(start_writer(options, main))
  int.range(0, options.workers, Nil, fn(_, index) {
    start_process(main, fn() { run_worker(options, index, writer, finished, main) })
  })
  // All connections are open: the clock starts.
  use opened <- result.try(collect(main, options.workers, []))
  let begin_ns = system.now_ns() + options.warmup_ms * 1_000_000
  let window = Window(begin_ns, begin_ns + options.duration_ms * 1_000_000)
  list.each(opened, fn(news) {
    case news {
      Opened(start) -> process.send(start, window)
      _ -> Nil
    }
  })
  use ended <- result.try(collect(main, options.workers, []))
  use ended <- result.try(case writer {
    None -> Ok(ended)
    Some(jobs) -> {
      process.send(jobs, Stop)
      collect(main, 1, ended)
    }
  })
  let #(latencies, busy_waits, counted) = total(ended)
  use _ <- result.map(point.print(options, latencies, busy_waits))
  counts.print(options, counted)
}
