//// How often each statement was prepared and ran: name, prepares, runs.

import gleam/int
import gleam/list
import runner/options.{type Options}
import runner/system

pub type Counts =
  List(#(String, Int, Int))

pub fn add(counts: Counts, other: Counts) -> Counts {
  use counts, #(name, prepares, runs) <- list.fold(other, counts)
  case list.partition(counts, fn(count) { count.0 == name }) {
    #([#(_, p, r)], rest) -> [#(name, p + prepares, r + runs), ..rest]
    #(_, rest) -> [#(name, prepares, runs), ..rest]
  }
}

/// One line a statement, on standard error, when they are wanted.
pub fn print(options: Options, counts: Counts) -> Nil {
  case options.statement_counts {
    False -> Nil
    True -> {
      use #(name, prepares, runs) <- list.each(counts)
      let numbers = " prepared=" <> int.to_string(prepares) <> " runs=" <> int.to_string(runs)
      system.print_error(name <> numbers <> "\n")
    }
  }
}
