//! rust_rusqlite: the request shape on rusqlite with `prepare_cached`; and rust_rusqlite_query_only, whose edit requests may not write.
mod concurrent;
mod counts;
mod database;
mod histogram;
mod info;
mod options;
mod point;
mod request;
mod sequential;
mod shape;

use options::Action;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};

/// The arm's name.
pub fn runner() -> &'static str {
    static NAME: OnceLock<&str> = OnceLock::new();
    NAME.get_or_init(|| match std::env::args().any(|argument| argument == "--query-only") {
        true => "rust_rusqlite_query_only",
        false => "rust_rusqlite",
    })
}

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
        Action::Histogram => point::merge_histograms()?,
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

/// Says why and ends the program, from any thread: of several workers that fail, the first. The database is of no use then.
pub fn end(options: &options::Options, Failure(message): Failure) -> ! {
    static SPEAKING: Mutex<()> = Mutex::new(());
    let _kept_for_good = SPEAKING.lock();
    eprintln!("{}: {message}", runner());
    remove_database(&options.path);
    std::process::exit(1)
}

fn remove_database(path: &str) {
    for suffix in options::DATABASE_SUFFIXES {
        let _ = std::fs::remove_file(format!("{path}{suffix}"));
    }
}

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{}: {message}; see --help", runner());
            return ExitCode::from(2);
        }
    };
    run(&options).unwrap_or_else(|failure| end(&options, failure));
    remove_database(&options.path);
    ExitCode::SUCCESS
}
