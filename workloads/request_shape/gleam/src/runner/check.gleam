//// A wrapping 64-bit sum of values read. Kept in two parts, since integers above 59 bits are slow on the BEAM.

import gleam/int
import gleam/bit_array
import gleam/list
import gleam/result

/// What esqlite reads: text and blob alike are bytes.
pub type Cell {
  Integer(Int)
  Bytes(BitArray)
  Null
}

/// Sums of the upper and the lower 32 bits.
pub type Check {
  Check(high: Int, low: Int)
}

const mask = 0xffffffff

pub fn new() -> Check {
  Check(0, 0)
}

pub fn add(sum: Check, other: Check) -> Check {
  Check(sum.high + other.high, sum.low + other.low)
}

/// An integer counts as itself, NULL as 0, text and blob as the FNV-1a-64 of their bytes.
pub fn add_row(sum: Check, row: List(Cell)) -> Check {
  case row {
    [] -> sum
    [Integer(value), ..rest] ->
      Check(sum.high + int.bitwise_shift_right(value, 32), sum.low + int.bitwise_and(value, mask)) |> add_row(rest)
    [Bytes(bytes), ..rest] -> add(sum, fnv1a(bytes, 0xcbf29ce4, 0x84222325)) |> add_row(rest)
    [Null, ..rest] -> add_row(sum, rest)
  }
}

fn fnv1a(bytes: BitArray, high: Int, low: Int) -> Check {
  case bytes {
    <<byte, rest:bytes>> -> {
      // Times 2^40 + 0x1b3.
      let low = int.bitwise_exclusive_or(low, byte)
      let product = low * 0x1b3
      let high = high * 0x1b3 + int.bitwise_shift_right(product, 32) + int.bitwise_shift_left(low, 8)
      fnv1a(rest, int.bitwise_and(high, mask), int.bitwise_and(product, mask))
    }
    _ -> Check(high, low)
  }
}

/// As a signed number of 64 bits.
pub fn to_signed(sum: Check) -> Int {
  let total = int.bitwise_shift_left(sum.high, 32) + sum.low
  let wrapped = int.bitwise_and(total, 0xffffffffffffffff)
  case wrapped >= 0x8000000000000000 {
    True -> wrapped - 0x10000000000000000
    False -> wrapped
  }
}

pub fn to_int(cell: Cell) -> Int {
  case cell {
    Integer(value) -> value
    _ -> 0
  }
}

pub fn to_text(cell: Cell) -> String {
  case cell {
    Bytes(bytes) -> bit_array.to_string(bytes) |> result.unwrap("")
    _ -> ""
  }
}

/// The first column as an integer; 0 for NULL.
pub fn first(row: List(Cell)) -> Int {
  row |> list.first |> result.unwrap(Null) |> to_int
}
