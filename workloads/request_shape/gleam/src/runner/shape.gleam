//// What of the request shape can be changed; the flags are those of ../../../sql/README.md.

import gleam/int
import gleam/result
import runner/usage

pub type ParentLookup {
  Recursive
  Application
}

pub type StatementCache {
  Fits
  /// What Fits is: esqlite keeps no statements.
  DriversOwn
  KeepsNone
}

pub type Shape {
  Shape(
    /// Factor on the tables that grow.
    rows: Int,
    extra_tables: Int,
    extra_indexes: Int,
    /// Of a request.
    reads: Int,
    writes: Int,
    parent_lookup: ParentLookup,
    statement_cache: StatementCache,
  )
}

pub const default = Shape(1, 0, 0, 26, 1, Recursive, Fits)

pub const help = "  --rows F               factor on the tables that grow, 1 to 1000 (1)
  --extra-tables N       more tables, 0 to 1000 (0)
  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)
  --reads N              reads of an edit, 1 to 1000 (26)
  --writes N             updates of an update request, 1 to 1000 (1)
  --parent-lookup L      recursive, or application: org by org (recursive)
  --statement-cache C    fits, default (the driver's own) or none (fits)
"

const lookups = [#("recursive", Recursive), #("application", Application)]

const caches = [#("fits", Fits), #("default", DriversOwn), #("none", KeepsNone)]

pub const flags = [
  "--rows", "--extra-tables", "--extra-indexes", "--reads", "--writes", "--parent-lookup", "--statement-cache",
]

/// Takes one of the flags and its value.
pub fn set(shape: Shape, flag: String, value: String) -> Result(Shape, String) {
  case flag {
    "--rows" -> usage.number(flag, value, 1, 1000) |> result.map(fn(n) { Shape(..shape, rows: n) })
    "--extra-tables" -> usage.number(flag, value, 0, 1000) |> result.map(fn(n) { Shape(..shape, extra_tables: n) })
    "--extra-indexes" -> usage.number(flag, value, 0, 64) |> result.map(fn(n) { Shape(..shape, extra_indexes: n) })
    "--reads" -> usage.number(flag, value, 1, 1000) |> result.map(fn(n) { Shape(..shape, reads: n) })
    "--writes" -> usage.number(flag, value, 1, 1000) |> result.map(fn(n) { Shape(..shape, writes: n) })
    "--parent-lookup" -> usage.choice(flag, value, lookups) |> result.map(fn(l) { Shape(..shape, parent_lookup: l) })
    _ -> usage.choice(flag, value, caches) |> result.map(fn(c) { Shape(..shape, statement_cache: c) })
  }
}

/// Requests take the items in turn.
pub fn item_count(shape: Shape) -> Int {
  100 * shape.rows
}

/// The trace's first line; nothing for the default shape.
pub fn describe(shape: Shape) -> String {
  case shape == default {
    True -> ""
    False ->
      "shape\trows="
      <> int.to_string(shape.rows)
      <> " extra_tables="
      <> int.to_string(shape.extra_tables)
      <> " extra_indexes="
      <> int.to_string(shape.extra_indexes)
      <> " reads="
      <> int.to_string(shape.reads)
      <> " writes="
      <> int.to_string(shape.writes)
      <> " parent_lookup="
      <> usage.name_of(shape.parent_lookup, lookups)
      <> " statement_cache="
      <> usage.name_of(shape.statement_cache, caches)
      <> "\n"
  }
}
