//! The command line, the same in every runner.
use crate::RUNNER;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq)]
pub enum Action {
    Sequential,
    Concurrent,
    Trace,
    Info,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Load {
    Read,
    Write,
    Mixed,
    SingleWriter,
}

impl Load {
    pub fn name(self) -> &'static str {
        match self {
            Load::Read => "read",
            Load::Write => "write",
            Load::Mixed => "mixed",
            Load::SingleWriter => "single_writer",
        }
    }
}

pub struct Options {
    pub action: Action,
    pub items: i64,
    pub load: Load,
    pub workers: usize,
    pub duration: Duration,
    pub warmup: Duration,
    /// Of the database.
    pub path: String,
    /// None: that of pragmas.sql.
    pub busy_timeout: Option<Duration>,
    /// Print how often each statement ran, on standard error.
    pub statement_counts: bool,
}

const HELP: &str = "\
rust_rusqlite --mode sequential [--items N]
rust_rusqlite --mode concurrent --workload read|write|mixed|single_writer [--workers W] [--duration S] [--warmup S]
rust_rusqlite --trace | --info | --help
  --items N              requests of each kind, one after another (10000)
  --workers W            threads, each with its own connection (1)
  --duration S           measured window in seconds (5)
  --warmup S             seconds before it (1)
  --db PATH              database to make, removed on success (a fresh file in the working directory)
  --busy-timeout-ms N    instead of the 5000 of the pragmas
  --statement-counts     how often each statement ran and was prepared again, on standard error (sequential)
";

/// A decimal number of digits only, from `min` to `max`.
fn number(flag: &str, text: &str, min: i64, max: i64) -> Result<i64, String> {
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

fn load(text: &str) -> Result<Load, String> {
    [Load::Read, Load::Write, Load::Mixed, Load::SingleWriter]
        .into_iter()
        .find(|load| load.name() == text)
        .ok_or(format!("--workload: '{text}' is none of read, write, mixed, single_writer"))
}

/// None: help was asked for and printed. The error is one line for standard error; the exit code is then 2.
pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        action: Action::Sequential,
        items: 10_000,
        load: Load::Read,
        workers: 1,
        duration: Duration::from_secs(5),
        warmup: Duration::from_secs(1),
        path: format!("{RUNNER}-{}.db", std::process::id()),
        busy_timeout: None,
        statement_counts: false,
    };
    let (mut mode, mut action, mut has_load) = (None, None, false);
    while let Some(flag) = arguments.next() {
        match flag.as_str() {
            "--help" => {
                print!("{HELP}");
                return Ok(None);
            }
            "--trace" | "--info" => {
                if let Some(other) = action {
                    return Err(format!("{other} and {flag} exclude each other"));
                }
                options.action = if flag == "--trace" { Action::Trace } else { Action::Info };
                action = Some(flag);
                continue;
            }
            "--statement-counts" => {
                options.statement_counts = true;
                continue;
            }
            "--mode" | "--items" | "--workload" | "--workers" | "--duration" | "--warmup" | "--db" | "--busy-timeout-ms" => {}
            _ => return Err(format!("unknown argument '{flag}'")),
        }
        let value = arguments.next().filter(|value| !value.is_empty()).ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--mode" => mode = Some(value),
            "--items" => options.items = number(&flag, &value, 1, 1_000_000_000)?,
            "--workload" => {
                options.load = load(&value)?;
                has_load = true;
            }
            "--workers" => options.workers = number(&flag, &value, 1, 4096)? as usize,
            "--duration" => options.duration = seconds(&flag, &value, Duration::from_millis(1))?,
            "--warmup" => options.warmup = seconds(&flag, &value, Duration::ZERO)?,
            "--db" => options.path = value,
            _ => options.busy_timeout = Some(Duration::from_millis(number(&flag, &value, 0, 3_600_000)? as u64)),
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
    if std::fs::symlink_metadata(&options.path).is_ok() {
        return Err(format!("--db: '{}' exists already", options.path));
    }
    Ok(Some(options))
}
