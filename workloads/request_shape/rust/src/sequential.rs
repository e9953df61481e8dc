//! One connection, requests one after another; and the trace of one request of each kind.
use crate::database::Database;
use crate::options::Options;
use crate::request::{admin_item_edit, admin_item_update};
use crate::{print_line, runner, Failure};
use std::time::{Duration, Instant};

fn print_row(name: &str, items: i64, took: Duration, check: u64) -> Result<(), Failure> {
    let (ns, items_ns) = (took.as_nanos() as u64, items as u64);
    let ns_per_item = (ns + items_ns / 2) / items_ns;
    let (micros, whole, fraction) = (ns / 1000, ns_per_item / 1000, ns_per_item % 1000);
    print_line(&format!("{}/app_request/{name},{items},{micros},{whole}.{fraction:03},{}", runner(), check as i64))
}

/// Requests 1 to `requests`, timed; their check sums added up.
fn timed(
    name: &str,
    options: &Options,
    mut request: impl FnMut(i64, i64) -> rusqlite::Result<u64>,
) -> Result<(), Failure> {
    let (mut check, requests, items) = (0u64, options.items, options.shape.items());
    let start = Instant::now();
    for i in 1..=requests {
        let sum = request(i, (i - 1) % items + 1).map_err(|error| Failure::new(name, error))?;
        check = check.wrapping_add(sum);
    }
    print_row(name, requests, start.elapsed(), check)
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

    let mut reader = options.query_only.then(|| Database::open_query_only(options)).transpose()?;
    timed("admin_item_edit", options, |_, item| admin_item_edit(reader.as_mut().unwrap_or(&mut db), item))?;
    timed("admin_item_update", options, |i, item| admin_item_update(&mut db, i, item))?;

    let of_reader = reader.map_or(Ok(None), Database::close)?;
    if let Some(mut counts) = db.close()? {
        of_reader.iter().for_each(|more| counts.add(more));
        counts.print();
    }
    Ok(())
}

pub fn trace(options: &Options) -> Result<(), Failure> {
    let mut db = Database::open(options)?;
    db.seed()?;
    let mut lines: Vec<String> = options.shape.line().into_iter().collect();

    let mut reader = options.query_only.then(|| Database::open_query_only(options)).transpose()?;
    let edited = reader.as_mut().unwrap_or(&mut db);
    edited.trace("admin_item_edit");
    admin_item_edit(edited, 1).map_err(|error| Failure::new("admin_item_edit", error))?;
    lines.extend(edited.traced());
    reader.map_or(Ok(None), Database::close)?;

    db.trace("admin_item_update");
    admin_item_update(&mut db, 1, 1).map_err(|error| Failure::new("admin_item_update", error))?;
    lines.extend(db.traced());
    print_line(&lines.join("\n"))?;
    db.close().map(drop)
}
