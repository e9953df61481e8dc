//! The command line, the same in every runner.
use crate::runner;
use crate::shape::{self, Shape};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, PartialEq)]
pub enum Action {
    Sequential,
    Concurrent,
    Trace,
    Info,
    Histogram,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Load {
    Read,
    Write,
    Mixed,
    SingleWriter,
    OpenRead,
}

const LOADS: [(&str, Load); 5] = [
    ("read", Load::Read),
    ("write", Load::Write),
    ("mixed", Load::Mixed),
    ("single_writer", Load::SingleWriter),
    ("open_read", Load::OpenRead),
];

impl Load {
    pub fn name(self) -> &'static str {
        LOADS[self as usize].0
    }
}

pub struct Options {
    pub action: Action,
    pub shape: Shape,
    pub items: i64,
    pub load: Load,
    pub workers: usize,
    /// open_read: requests a second of all workers.
    pub rate: i64,
    pub duration: Duration,
    pub warmup: Duration,
    /// Of the database.
    pub path: String,
    /// None: that of pragmas.sql.
    pub busy_timeout: Option<Duration>,
    /// Print how often each statement was prepared and ran, on standard error.
    pub statement_counts: bool,
    /// Edit requests go to a connection that may not write.
    pub query_only: bool,
}

/// What SQLite leaves beside a database: nothing, the log, its index.
pub const DATABASE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

const HELP: &str = "\
rust_rusqlite --mode sequential [--items N]
rust_rusqlite --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup S]
rust_rusqlite --trace | --info | --histogram | --help
  --items N              requests of each kind, one after another (10000)
  --workers W            threads, each with its own connection (1)
  --duration S           measured window in seconds (5)
  --warmup S             seconds before it (1)
  --rate R               requests due a second, of all workers (open_read, 1000)
  --db PATH              database to make, removed at the end (a fresh file in the working directory)
  --busy-timeout-ms N    instead of the 5000 of the pragmas
  --statement-counts     how often each statement was prepared and ran, on standard error
  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers
  --query-only           edit on a connection of its own with query_only=ON: rust_rusqlite_query_only (sequential, --trace)
";

/// A decimal number of digits only, from `min` to `max`.
pub fn number(flag: &str, text: &str, min: i64, max: i64) -> Result<i64, String> {
    if text.is_empty() || text.len() > 15 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{flag}: '{text}' is not a whole number"));
    }
    match text.parse() {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ => Err(format!("{flag}: {text} is not within {min} and {max}")),
    }
}

/// Seconds with at most three decimals: 5, 0.25, and 5s as plans write it.
fn seconds(flag: &str, text: &str, min: Duration) -> Result<Duration, String> {
    let digits = |part: &str, most| !part.is_empty() && part.len() <= most && part.bytes().all(|byte| byte.is_ascii_digit());
    let plain = text.strip_suffix('s').unwrap_or(text);
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, "0"));
    if !digits(whole, 5) || !digits(fraction, 3) {
        return Err(format!("{flag}: '{text}' is not a number of seconds"));
    }
    let ms = format!("{whole}{fraction:0<3}").parse().unwrap_or(u64::MAX);
    let value = Duration::from_millis(ms);
    if value < min || value > Duration::from_secs(3600) {
        let least = if min.is_zero() { "0" } else { "0.001" };
        return Err(format!("{flag}: {text} is not within {least} and 3600 seconds"));
    }
    Ok(value)
}

pub fn choice<T: Copy>(flag: &str, text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    match choices.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Err(format!("{flag}: '{text}' is none of {}", names.join(", ")))
        }
    }
}

/// What a killed program has left is not ours to overwrite, and no new database may begin beside an old one's log.
fn refuse_existing(path: &str) -> Result<(), String> {
    let names = DATABASE_SUFFIXES.map(|suffix| format!("{path}{suffix}"));
    match names.iter().find(|name| std::fs::symlink_metadata(name).is_ok()) {
        Some(name) => Err(format!("--db: '{name}' exists already")),
        None => Ok(()),
    }
}

fn fresh_path() -> String {
    let ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{}-{ns}.db", runner(), std::process::id())
}

/// None: help was asked for and printed. The error is one line for standard error; the exit code is then 2.
pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        action: Action::Sequential,
        shape: Shape::default(),
        items: 10_000,
        load: Load::Read,
        workers: 1,
        rate: 1000,
        duration: Duration::from_secs(5),
        warmup: Duration::from_secs(1),
        path: fresh_path(),
        busy_timeout: None,
        statement_counts: false,
        query_only: false,
    };
    let (mut mode, mut action, mut has_load) = (None, None, false);
    while let Some(flag) = arguments.next() {
        match flag.as_str() {
            "--help" => {
                print!("{HELP}{}", shape::HELP);
                return Ok(None);
            }
            "--trace" | "--info" | "--histogram" => {
                if let Some(other) = action {
                    return Err(format!("{other} and {flag} exclude each other"));
                }
                options.action = match flag.as_str() {
                    "--trace" => Action::Trace,
                    "--info" => Action::Info,
                    _ => Action::Histogram,
                };
                action = Some(flag);
                continue;
            }
            "--statement-counts" => {
                options.statement_counts = true;
                continue;
            }
            "--query-only" => {
                options.query_only = true;
                continue;
            }
            "--mode" | "--items" | "--workload" | "--workers" | "--duration" | "--warmup" | "--rate" | "--db" | "--busy-timeout-ms" => {}
            _ if shape::FLAGS.contains(&flag.as_str()) => {}
            _ => return Err(format!("unknown argument '{flag}'")),
        }
        let value = arguments.next().filter(|value| !value.is_empty()).ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--mode" => mode = Some(value),
            "--items" => options.items = number(&flag, &value, 1, 1_000_000_000)?,
            "--workload" => {
                options.load = choice(&flag, &value, &LOADS)?;
                has_load = true;
            }
            "--workers" => options.workers = number(&flag, &value, 1, 4096)? as usize,
            "--duration" => options.duration = seconds(&flag, &value, Duration::from_millis(1))?,
            "--warmup" => options.warmup = seconds(&flag, &value, Duration::ZERO)?,
            "--rate" => options.rate = number(&flag, &value, 1, 10_000_000)?,
            "--db" => options.path = value,
            "--busy-timeout-ms" => options.busy_timeout = Some(Duration::from_millis(number(&flag, &value, 0, 3_600_000)? as u64)),
            _ => options.shape.set(&flag, &value)?,
        }
    }
    match (action, mode.as_deref()) {
        (Some(action), Some(_)) => return Err(format!("{action} and --mode exclude each other")),
        (Some(_), None) => {}
        (None, None) => return Err("--mode is missing".into()),
        (None, Some("sequential")) => options.action = Action::Sequential,
        (None, Some("concurrent")) => options.action = Action::Concurrent,
        (None, Some(other)) => return Err(format!("--mode: '{other}' is neither sequential nor concurrent")),
    }
    if options.action == Action::Concurrent && !has_load {
        return Err("--workload is missing".into());
    }
    if options.action == Action::Concurrent && options.query_only {
        return Err("--query-only is for sequential mode".into());
    }
    refuse_existing(&options.path)?;
    Ok(Some(options))
}
