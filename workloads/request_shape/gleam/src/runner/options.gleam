//// The command line, the same in every runner.

import gleam/int
import gleam/list
import gleam/option.{type Option, None, Some}
import gleam/result
import gleam/string
import runner/shape.{type Shape}
import runner/system
import runner/usage

pub type Action {
  Sequential
  Concurrent
  Trace
  Info
  Histogram
}

pub type Load {
  Read
  Write
  Mixed
  SingleWriter
  OpenRead
}

pub type Options {
  Options(
    action: Action,
    shape: Shape,
    items: Int,
    load: Load,
    workers: Int,
    /// open_read: requests a second of all workers.
    rate: Int,
    duration_ms: Int,
    warmup_ms: Int,
    /// Of the database.
    path: String,
    /// None: that of pragmas.sql.
    busy_timeout_ms: Option(Int),
    /// Print how often each statement was prepared and ran, on standard error.
    statement_counts: Bool,
  )
}

/// What there is to do, or the sentence that says what is wrong with the arguments.
pub type Parsed {
  Help
  Run(Options)
}

const loads = [
  #("read", Read), #("write", Write), #("mixed", Mixed), #("single_writer", SingleWriter), #("open_read", OpenRead),
]

const actions = [#("--trace", Trace), #("--info", Info), #("--histogram", Histogram)]

const modes = [#("sequential", Sequential), #("concurrent", Concurrent)]

/// What SQLite leaves beside a database: nothing, the log, its index.
pub const database_suffixes = ["", "-wal", "-shm"]

pub fn load_name(load: Load) -> String {
  usage.name_of(load, loads)
}

pub fn help() -> String {
  let runner = system.runner()
  runner
  <> " --mode sequential [--items N]\n"
  <> runner
  <> " --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup S]\n"
  <> runner
  <> " --trace | --info | --histogram | --help
  --items N              requests of each kind, one after another (10000)
  --workers W            processes, each with its own connection (1)
  --duration S           measured window in seconds (5)
  --warmup S             seconds before it (1)
  --rate R               requests due a second, of all workers (open_read, 1000)
  --db PATH              database to make, removed at the end (a fresh file in the working directory)
  --busy-timeout-ms N    instead of the 5000 of the pragmas
  --statement-counts     how often each statement was prepared and ran, on standard error
  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers
"
  <> shape.help
}

/// What was said so far, beside the options.
type Said {
  Said(options: Options, mode: Option(String), load: Bool, action: Option(String))
}

pub fn parse(words: List(String)) -> Result(Parsed, String) {
  let options =
    Options(Sequential, shape.default, 10_000, Read, 1, 1000, 5000, 1000, "", None, False)
  use said <- result.try(parse_words(words, Said(options, None, False, None)))
  case said {
    None -> Ok(Help)
    Some(said) -> {
      use options <- result.try(check_mode(said))
      let path = case options.path {
        "" -> fresh_path()
        path -> path
      }
      use _ <- result.map(list.try_each(database_suffixes, refuse_existing(path, _)))
      Run(Options(..options, path:))
    }
  }
}

/// None: help is wanted.
fn parse_words(words: List(String), said: Said) -> Result(Option(Said), String) {
  case words {
    [] -> Ok(Some(said))
    ["--help", ..] -> Ok(None)
    ["--statement-counts", ..rest] ->
      parse_words(rest, Said(..said, options: Options(..said.options, statement_counts: True)))
    [flag, ..rest] ->
      case list.key_find(actions, flag), said.action {
        Ok(_), Some(other) -> Error(other <> " and " <> flag <> " exclude each other")
        Ok(action), None ->
          parse_words(rest, Said(..said, options: Options(..said.options, action:), action: Some(flag)))
        Error(_), _ -> {
          use <- require(takes_value(flag), "unknown argument '" <> flag <> "'")
          case rest {
            [] | ["", ..] -> Error(flag <> " needs a value")
            [value, ..rest] -> {
              use said <- result.try(set(said, flag, value))
              parse_words(rest, said)
            }
          }
        }
      }
  }
}

fn require(condition: Bool, otherwise: String, then: fn() -> Result(a, String)) -> Result(a, String) {
  case condition {
    True -> then()
    False -> Error(otherwise)
  }
}

fn takes_value(flag: String) -> Bool {
  let own = [
    "--mode", "--items", "--workload", "--workers", "--duration", "--warmup", "--db", "--busy-timeout-ms", "--rate",
  ]
  list.contains(own, flag) || list.contains(shape.flags, flag)
}

fn set(said: Said, flag: String, value: String) -> Result(Said, String) {
  let options = said.options
  let updated = fn(options) { Said(..said, options:) }
  case flag {
    "--mode" -> Ok(Said(..said, mode: Some(value)))
    "--items" ->
      usage.number(flag, value, 1, 1_000_000_000) |> result.map(fn(n) { updated(Options(..options, items: n)) })
    "--workload" ->
      usage.choice(flag, value, loads)
      |> result.map(fn(load) { Said(..said, options: Options(..options, load:), load: True) })
    "--workers" -> usage.number(flag, value, 1, 4096) |> result.map(fn(n) { updated(Options(..options, workers: n)) })
    "--duration" -> usage.seconds(flag, value, 1) |> result.map(fn(ms) { updated(Options(..options, duration_ms: ms)) })
    "--warmup" -> usage.seconds(flag, value, 0) |> result.map(fn(ms) { updated(Options(..options, warmup_ms: ms)) })
    "--db" -> Ok(updated(Options(..options, path: value)))
    "--busy-timeout-ms" ->
      usage.number(flag, value, 0, 3_600_000)
      |> result.map(fn(ms) { updated(Options(..options, busy_timeout_ms: Some(ms))) })
    "--rate" -> usage.number(flag, value, 1, 10_000_000) |> result.map(fn(n) { updated(Options(..options, rate: n)) })
    _ -> shape.set(options.shape, flag, value) |> result.map(fn(shape) { updated(Options(..options, shape:)) })
  }
}

fn check_mode(said: Said) -> Result(Options, String) {
  case said.action, said.mode {
    Some(action), Some(_) -> Error(action <> " and --mode exclude each other")
    Some(_), None -> Ok(said.options)
    None, None -> Error("--mode is missing")
    None, Some(mode) ->
      case list.key_find(modes, mode) {
        Error(_) -> Error("--mode: '" <> mode <> "' is neither sequential nor concurrent")
        Ok(Concurrent) if !said.load -> Error("--workload is missing")
        Ok(action) -> Ok(Options(..said.options, action:))
      }
  }
}

/// What a killed program has left is not ours to overwrite, and no new database may begin beside an old one's log.
fn refuse_existing(path: String, suffix: String) -> Result(Nil, String) {
  let name = path <> suffix
  use <- require(string.byte_size(name) < 4096, "--db: the path is too long")
  require(!system.exists(name), "--db: '" <> name <> "' exists already", fn() { Ok(Nil) })
}

fn fresh_path() -> String {
  system.runner() <> "-" <> system.os_pid() <> "-" <> int.to_string(system.wall_ns()) <> ".db"
}
