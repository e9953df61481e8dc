//// One connection, requests one after another; and the trace of one request of each kind.

import gleam/int
import gleam/option.{Some}
import gleam/erlang/process
import gleam/result
import gleam/string
import runner/check.{type Check}
import runner/counts
import runner/database.{type Database, type SqlError, Database}
import runner/histogram
import runner/options.{type Options}
import runner/request
import runner/shape
import runner/system
import runner/trace

fn print_row(name: String, items: Int, ns: Int, sum: Check) -> Result(Nil, String) {
  let cells = [
    system.runner() <> "/app_request/" <> name,
    int.to_string(items),
    int.to_string(ns / 1000),
    histogram.us({ ns + items / 2 } / items),
    int.to_string(check.to_signed(sum)),
  ]
  system.print(string.join(cells, ",") <> "\n")
}

/// Requests 1 to `items`, timed; their check sums added up.
fn timed(name: String, options: Options, request: fn(Int, Int) -> Result(Check, SqlError)) -> Result(Nil, String) {
  let start = system.now_ns()
  use sum <- result.try(
    repeat(1, options.items, shape.item_count(options.shape), check.new(), request)
    |> result.map_error(database.explain(name)),
  )
  print_row(name, options.items, system.now_ns() - start, sum)
}

fn repeat(
  i: Int,
  items: Int,
  count: Int,
  sum: Check,
  request: fn(Int, Int) -> Result(Check, SqlError),
) -> Result(Check, SqlError) {
  case i > items {
    True -> Ok(sum)
    False ->
      case request(i, { i - 1 } % count + 1) {
        Ok(more) -> repeat(i + 1, items, count, check.add(sum, more), request)
        Error(error) -> Error(error)
      }
  }
}

pub fn run(options: Options) -> Result(Nil, String) {
  use db <- result.try(database.open(options))
  use _ <- result.try(system.print("case,items,micros,us_per_item,check\n"))

  let start = system.now_ns()
  use _ <- result.try(database.seed(db))
  let took = system.now_ns() - start
  use rows <- result.try(database.count_rows(db))
  use sum <- result.try(database.sum_every_row(db))
  use _ <- result.try(print_row("seed_dummy_data", rows, took, sum))

  use _ <- result.try(timed("admin_item_edit", options, fn(_, item) { request.admin_item_edit(db, item) }))
  use _ <- result.try(timed("admin_item_update", options, fn(i, item) { request.admin_item_update(db, i, item) }))
  use _ <- result.map(database.close(db))
  counts.print(options, database.counts())
}

pub fn print_trace(options: Options) -> Result(Nil, String) {
  use db <- result.try(database.open(options))
  use _ <- result.try(database.seed(db))
  use edit <- result.try(traced(db, "admin_item_edit", request.admin_item_edit(_, 1)))
  use update <- result.try(traced(db, "admin_item_update", request.admin_item_update(_, 1, 1)))
  use _ <- result.try(system.print(shape.describe(options.shape) <> edit <> update))
  database.close(db)
}

/// The lines of what the request executes.
fn traced(db: Database, name: String, request: fn(Database) -> Result(Check, SqlError)) -> Result(String, String) {
  let executed = process.new_subject()
  use _ <- result.map(
    request(Database(..db, trace: Some(executed))) |> result.map_error(database.explain(name)),
  )
  trace.lines(name, executed)
}
