//! One connection, requests one after another; and the trace of one request of each kind.
use crate::database::Database;
use crate::options::Options;
use crate::request::{admin_item_edit, admin_item_update};
use crate::{print_line, Failure, RUNNER};
use std::time::{Duration, Instant};

fn print_row(name: &str, items: i64, took: Duration, check: u64) -> Result<(), Failure> {
    let (ns, items_ns) = (took.as_nanos() as u64, items as u64);
    let ns_per_item = (ns + items_ns / 2) / items_ns;
    let (micros, whole, fraction) = (ns / 1000, ns_per_item / 1000, ns_per_item % 1000);
    print_line(&format!("{RUNNER}/app_request/{name},{items},{micros},{whole}.{fraction:03},{}", check as i64))
}

/// Requests 1 to `items`, timed; their check sums added up.
fn timed(name: &str, items: i64, mut request: impl FnMut(i64, i64) -> rusqlite::Result<u64>) -> Result<(), Failure> {
    let mut check = 0u64;
    let start = Instant::now();
    for i in 1..=items {
        let sum = request(i, (i - 1) % 100 + 1).map_err(|error| Failure::new(name, error))?;
        check = check.wrapping_add(sum);
    }
    print_row(name, items, start.elapsed(), check)
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut db = Database::open(options)?;
    print_line("case,items,micros,us_per_item,check")?;

    let start = Instant::now();
    db.seed()?;
    let took = start.elapsed();
    // Rows changed since the connection was opened: all of them are the seed's.
    let rows = db.connection.total_changes() as i64;
    let check = db.sum_every_row().map_err(|error| Failure::new("every_row", error))?;
    print_row("seed_dummy_data", rows, took, check)?;

    timed("admin_item_edit", options.items, |_, item| admin_item_edit(&mut db, item))?;
    timed("admin_item_update", options.items, |i, item| admin_item_update(&mut db, i, item))?;

    if options.statement_counts {
        db.print_statement_counts().map_err(|error| Failure::new("statement counts", error))?;
    }
    db.close()
}

pub fn trace(options: &Options) -> Result<(), Failure> {
    let mut db = Database::open(options)?;
    db.seed()?;
    db.trace("admin_item_edit");
    admin_item_edit(&mut db, 1).map_err(|error| Failure::new("admin_item_edit", error))?;
    let mut lines = db.traced();
    db.trace("admin_item_update");
    admin_item_update(&mut db, 1, 1).map_err(|error| Failure::new("admin_item_update", error))?;
    lines.extend(db.traced());
    print_line(&lines.join("\n"))?;
    db.close()
}
