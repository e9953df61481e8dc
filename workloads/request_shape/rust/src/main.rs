//! rust_rusqlite: the request shape on rusqlite with `prepare_cached`.
mod concurrent;
mod database;
mod histogram;
mod info;
mod options;
mod request;
mod sequential;

use options::Action;
use std::io::Write;
use std::process::ExitCode;

pub const RUNNER: &str = "rust_rusqlite";

/// What ends the program with exit code 1: one sentence that says what failed and why.
pub struct Failure(pub String);

impl Failure {
    pub fn new(what: &str, reason: impl std::fmt::Display) -> Self {
        Failure(format!("{what}: {reason}"))
    }
}

fn run(options: &options::Options) -> Result<(), Failure> {
    match options.action {
        Action::Sequential => sequential::run(options)?,
        Action::Concurrent => concurrent::run(options)?,
        Action::Trace => sequential::trace(options)?,
        Action::Info => info::print()?,
    }
    Ok(())
}

/// Prints at once. Output that did not arrive is a failure: a full disk must not look like a short result.
pub fn print_line(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|_| Failure("standard output: it could not be written in full".into()))
}

fn remove_database(path: &str) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{path}{suffix}"));
    }
}

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{RUNNER}: {message}; see --help");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => {
            remove_database(&options.path);
            ExitCode::SUCCESS
        }
        Err(Failure(message)) => {
            eprintln!("{RUNNER}: {message}");
            ExitCode::FAILURE
        }
    }
}
