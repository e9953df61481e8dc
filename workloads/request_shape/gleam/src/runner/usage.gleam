//// The values of flags. An error is one sentence that says what is wrong.

import gleam/int
import gleam/list
import gleam/result
import gleam/string

fn is_digits(text: String, most: Int) -> Bool {
  let digits = string.to_graphemes(text)
  text != "" && list.length(digits) <= most && list.all(digits, string.contains("0123456789", _))
}

/// A decimal number of digits only, from `min` to `max`.
pub fn number(flag: String, text: String, min: Int, max: Int) -> Result(Int, String) {
  case is_digits(text, 15), int.parse(text) {
    True, Ok(value) if value >= min && value <= max -> Ok(value)
    True, _ ->
      Error(flag <> ": " <> text <> " is not within " <> int.to_string(min) <> " and " <> int.to_string(max))
    False, _ -> Error(flag <> ": '" <> text <> "' is not a whole number")
  }
}

/// Seconds with at most three decimals: 5, 0.25, and 5s as plans write it. In milliseconds.
pub fn seconds(flag: String, text: String, min_ms: Int) -> Result(Int, String) {
  let plain = case string.ends_with(text, "s") {
    True -> string.drop_end(text, 1)
    False -> text
  }
  let #(whole, fraction) = string.split_once(plain, ".") |> result.unwrap(#(plain, "0"))
  let ms = int.parse(whole <> string.pad_end(fraction, 3, "0")) |> result.unwrap(0)
  let least = case min_ms {
    0 -> "0"
    _ -> "0.001"
  }
  case is_digits(whole, 5) && is_digits(fraction, 3) {
    False -> Error(flag <> ": '" <> text <> "' is not a number of seconds")
    True if ms < min_ms || ms > 3_600_000 ->
      Error(flag <> ": " <> text <> " is not within " <> least <> " and 3600 seconds")
    True -> Ok(ms)
  }
}

pub fn choice(flag: String, text: String, choices: List(#(String, a))) -> Result(a, String) {
  let names = choices |> list.map(fn(choice) { choice.0 }) |> string.join(", ")
  list.key_find(choices, text) |> result.replace_error(flag <> ": '" <> text <> "' is none of " <> names)
}

pub fn name_of(value: a, choices: List(#(String, a))) -> String {
  choices |> list.filter(fn(choice) { choice.1 == value }) |> list.map(fn(choice) { choice.0 }) |> string.concat
}
