//// --trace: one line an executed statement.

import gleam/bit_array
import gleam/erlang/process.{type Subject}
import gleam/int
import gleam/list
import gleam/result
import gleam/string
import runner/check.{type Cell, Bytes, Integer, Null}
import runner/database.{type Executed, type Value}

@external(erlang, "runner_ffi", "cell")
fn to_cell(value: Value) -> Cell

fn literal(cell: Cell, is_blob: Bool) -> String {
  case cell {
    Integer(value) -> int.to_string(value)
    Null -> "NULL"
    Bytes(bytes) if is_blob -> "X'" <> string.lowercase(bit_array.base16_encode(bytes)) <> "'"
    Bytes(bytes) -> "'" <> string.replace(bit_array.to_string(bytes) |> result.unwrap(""), "'", "''") <> "'"
  }
}

fn or_dash(literals: List(String)) -> String {
  case literals {
    [] -> "-"
    _ -> string.join(literals, ", ")
  }
}

/// What has been told to `executed`, in order.
pub fn lines(request: String, executed: Subject(Executed)) -> String {
  next_lines(request, executed, 1)
}

fn next_lines(request: String, executed: Subject(Executed), step: Int) -> String {
  case process.receive(executed, within: 0) {
    Error(_) -> ""
    Ok(one) -> {
      let values = list.map(one.values, fn(value) { literal(to_cell(value), False) })
      let row = list.map2(one.row, one.blobs, literal)
      let cells = [
        request, int.to_string(step), one.statement.name, one.statement.sql, or_dash(values), or_dash(row),
      ]
      string.join(cells, "\t") <> "\n" <> next_lines(request, executed, step + 1)
    }
  }
}
