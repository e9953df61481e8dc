//// A connection whose statements are prepared at their first use and kept by the process that uses it, unless the shape
//// wants none kept. esqlite keeps none by itself, so that a program has to.

import gleam/erlang/process.{type Subject}
import gleam/int
import gleam/list
import gleam/option.{type Option, None, Some}
import gleam/result
import gleam/string
import runner/check.{type Cell, type Check}
import runner/options.{type Options}
import runner/shape.{type Shape, KeepsNone}
import runner/sql.{type Statement}

pub type Connection

type Prepared

/// What can be bound: an integer or a text.
pub type Value

pub type SqlError {
  SqlError(code: Int, message: String)
}

/// An executed statement, as --trace shows it.
pub type Executed {
  Executed(statement: Statement, values: List(Value), row: List(Cell), blobs: List(Bool))
}

pub type Database {
  Database(
    connection: Connection,
    shape: Shape,
    counts: Bool,
    /// When set, every executed statement is told there.
    trace: Option(Subject(Executed)),
  )
}

@external(erlang, "gleam_stdlib", "identity")
pub fn int(value: Int) -> Value

@external(erlang, "gleam_stdlib", "identity")
pub fn text(value: String) -> Value

@external(erlang, "runner_ffi", "open")
fn open_file(path: String) -> Result(Connection, SqlError)

@external(erlang, "runner_ffi", "close")
fn close_connection(connection: Connection) -> Result(Nil, SqlError)

@external(erlang, "runner_ffi", "exec")
fn exec(connection: Connection, sql: String) -> Result(Nil, SqlError)

@external(erlang, "runner_ffi", "prepare")
fn prepare(connection: Connection, sql: String, persistent: Bool) -> Result(Prepared, SqlError)

@external(erlang, "runner_ffi", "run")
fn run(connection: Connection, prepared: Prepared, values: List(Value)) -> Result(Option(List(Cell)), SqlError)

@external(erlang, "runner_ffi", "fetch_all")
fn fetch_all(connection: Connection, sql: String) -> Result(List(List(Cell)), SqlError)

@external(erlang, "runner_ffi", "is_autocommit")
fn is_autocommit(connection: Connection) -> Bool

@external(erlang, "runner_ffi", "column_types")
fn column_types(prepared: Prepared) -> List(String)

/// The calling process's own value under this key, made at its first use.
@external(erlang, "runner_ffi", "keep")
fn keep(key: String, make: fn() -> Result(Prepared, SqlError)) -> Result(Prepared, SqlError)

type Counted {
  Prepares
  Runs
}

@external(erlang, "runner_ffi", "count")
fn count(kind: Counted, name: String) -> Nil

@external(erlang, "runner_ffi", "counts")
fn counts_of(kind: Counted) -> List(#(String, Int))

/// One sentence of what failed and why.
pub fn explain(what: String) -> fn(SqlError) -> String {
  fn(error: SqlError) {
    what <> ": " <> error.message <> " (SQLite error " <> int.to_string(error.code) <> ")"
  }
}

pub fn open(options: Options) -> Result(Database, String) {
  {
    use connection <- result.try(open_file(options.path))
    use _ <- result.try(exec(connection, sql.pragmas.sql))
    use _ <- result.map(case options.busy_timeout_ms {
      Some(ms) -> exec(connection, "PRAGMA busy_timeout=" <> int.to_string(ms))
      None -> Ok(Nil)
    })
    Database(connection, options.shape, options.statement_counts, None)
  }
  |> result.map_error(explain(options.path))
}

pub fn close(db: Database) -> Result(Nil, String) {
  close_connection(db.connection) |> result.map_error(explain("close"))
}

/// Creates and fills the tables in one transaction.
pub fn seed(db: Database) -> Result(Nil, String) {
  let exec = exec(db.connection, _)
  {
    use _ <- result.try(exec(sql.begin_immediate.sql))
    use _ <- result.try(exec("PRAGMA user_version=" <> int.to_string(db.shape.rows)))
    use _ <- result.try(exec(sql.schema.sql))
    use script <- result.try(extra_schema(db))
    use _ <- result.try(exec(script))
    use _ <- result.try(exec(sql.seed.sql))
    exec(sql.commit.sql)
  }
  |> result.map_error(explain("seed"))
}

/// The script that a query writes; nothing where there is nothing more.
fn extra_schema(db: Database) -> Result(String, SqlError) {
  let values = [int(db.shape.extra_tables), int(db.shape.extra_indexes)]
  case db.shape.extra_tables + db.shape.extra_indexes {
    0 -> Ok("")
    _ -> {
      use prepared <- result.try(prepare(db.connection, sql.extra_schema.sql, False))
      use row <- result.map(run(db.connection, prepared, values))
      row |> option.unwrap([]) |> list.map(check.to_text) |> string.concat
    }
  }
}

/// The texts of every row of a query of our own.
pub fn read_texts(db: Database, query: String) -> Result(List(String), String) {
  fetch_all(db.connection, query)
  |> result.map(fn(rows) { rows |> list.flatten |> list.map(check.to_text) })
  |> result.map_error(explain(query))
}

/// Rows changed since the connection was opened: after the seed all of them are the seed's.
pub fn count_rows(db: Database) -> Result(Int, String) {
  fetch_all(db.connection, "SELECT total_changes()")
  |> result.map(fn(rows) { rows |> list.flatten |> list.fold(0, fn(sum, cell) { sum + check.to_int(cell) }) })
  |> result.map_error(explain("total_changes"))
}

/// The check sum of every row of every table.
pub fn sum_every_row(db: Database) -> Result(Check, String) {
  string.split(sql.every_row.sql, "\n")
  |> list.try_fold(check.new(), fn(sum, query) {
    fetch_all(db.connection, query) |> result.map(list.fold(_, sum, check.add_row))
  })
  |> result.map_error(explain("every_row"))
}

/// The first row; an error when there is none.
pub fn query(db: Database, statement: Statement, values: List(Value)) -> Result(List(Cell), SqlError) {
  case run_statement(db, statement, values) {
    Ok(Some(row)) -> Ok(row)
    Ok(None) -> Error(SqlError(-1, "a row that must be there is missing"))
    Error(error) -> Error(error)
  }
}

pub fn execute(db: Database, statement: Statement, values: List(Value)) -> Result(Nil, SqlError) {
  run_statement(db, statement, values) |> result.replace(Nil)
}

pub fn in_transaction(db: Database) -> Bool {
  !is_autocommit(db.connection)
}

fn run_statement(db: Database, statement: Statement, values: List(Value)) -> Result(Option(List(Cell)), SqlError) {
  use prepared <- result.try(case db.shape.statement_cache {
    // Finalized when the process collects its garbage: esqlite has nothing else.
    KeepsNone -> prepare_counted(db, statement, False)
    _ -> keep(statement.name, fn() { prepare_counted(db, statement, True) })
  })
  let ran = run(db.connection, prepared, values)
  case db.counts {
    True -> count(Runs, statement.name)
    False -> Nil
  }
  case db.trace, ran {
    Some(observer), Ok(row) -> {
      let blobs = list.map(column_types(prepared), fn(declared) { declared == "BLOB" })
      process.send(observer, Executed(statement, values, option.unwrap(row, []), blobs))
    }
    _, _ -> Nil
  }
  ran
}

fn prepare_counted(db: Database, statement: Statement, persistent: Bool) -> Result(Prepared, SqlError) {
  case db.counts {
    True -> count(Prepares, statement.name)
    False -> Nil
  }
  prepare(db.connection, statement.sql, persistent)
}

/// How often the calling process prepared and ran each statement: name, prepares, runs. Counted here: esqlite does not show
/// SQLite's own counters, so that what SQLite prepared again by itself is not seen.
pub fn counts() -> List(#(String, Int, Int)) {
  let prepares = counts_of(Prepares)
  use #(name, runs) <- list.map(counts_of(Runs))
  #(name, list.key_find(prepares, name) |> result.unwrap(0), runs)
}
