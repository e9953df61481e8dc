//! How often each statement was prepared and run.
use crate::database::{Statement, STATEMENTS};
use rusqlite::StatementStatus;
use std::collections::HashMap;

#[derive(Default)]
struct Count {
    /// Also by SQLite itself.
    prepared: i64,
    runs: i64,
}

pub struct Counts(HashMap<&'static str, Count>);

impl Counts {
    pub fn new() -> Self {
        Counts(HashMap::new())
    }

    /// Runs the statement. One that has never run before is fresh: the counters live in the prepared statement.
    pub fn count<T>(
        &mut self,
        statement: &Statement,
        prepared: &mut rusqlite::Statement,
        run: impl FnOnce(&mut rusqlite::Statement) -> T,
    ) -> T {
        let count = self.0.entry(statement.name).or_default();
        count.prepared += i64::from(prepared.get_status(StatementStatus::Run) == 0);
        count.runs += 1;
        let result = run(prepared);
        count.prepared += i64::from(prepared.reset_status(StatementStatus::RePrepare));
        result
    }

    pub fn add(&mut self, other: &Counts) {
        for (name, more) in &other.0 {
            let count = self.0.entry(name).or_default();
            count.prepared += more.prepared;
            count.runs += more.runs;
        }
    }

    /// One line a statement that ran, on standard error.
    pub fn print(&self) {
        for name in STATEMENTS.iter().map(|statement| statement.name) {
            if let Some(Count { prepared, runs }) = self.0.get(name) {
                eprintln!("{name} prepared={prepared} runs={runs}");
            }
        }
    }
}
