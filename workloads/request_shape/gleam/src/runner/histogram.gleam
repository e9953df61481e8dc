//// Latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that every power of two
//// is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are added, never averaged.

import gleam/dict.{type Dict}
import gleam/int
import gleam/list
import gleam/option
import gleam/string

pub type Histogram {
  Histogram(total: Int, max_ns: Int, counts: Dict(Int, Int))
}

/// The last bucket: what is longer than 2^40 ns, 18 minutes, counts in it.
const last_bucket = 8447

pub fn new() -> Histogram {
  Histogram(0, 0, dict.new())
}

fn bucket_of(ns: Int, shift: Int) -> Int {
  case int.bitwise_shift_right(ns, shift) {
    top if top < 512 -> int.min(shift * 256 + top, last_bucket)
    _ -> bucket_of(ns, shift + 1)
  }
}

fn upper_bound_ns(bucket: Int) -> Int {
  let shift = int.max(bucket / 256 - 1, 0)
  int.bitwise_shift_left(bucket - shift * 256 + 1, shift) - 1
}

pub fn record(histogram: Histogram, ns: Int) -> Histogram {
  Histogram(histogram.total + 1, int.max(histogram.max_ns, ns), more(histogram.counts, bucket_of(ns, 0), 1))
}

fn more(counts: Dict(Int, Int), bucket: Int, count: Int) -> Dict(Int, Int) {
  dict.upsert(counts, bucket, fn(before) { option.unwrap(before, 0) + count })
}

pub fn add(histogram: Histogram, other: Histogram) -> Histogram {
  Histogram(
    histogram.total + other.total,
    int.max(histogram.max_ns, other.max_ns),
    dict.fold(other.counts, histogram.counts, more),
  )
}

/// Bucket and count, ascending.
fn ascending(histogram: Histogram) -> List(#(Int, Int)) {
  dict.to_list(histogram.counts) |> list.sort(fn(a, b) { int.compare(a.0, b.0) })
}

/// The upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty histogram.
pub fn percentile_ns(histogram: Histogram, percent: Int) -> Int {
  let rank = { histogram.total * percent + 99 } / 100
  find_rank(ascending(histogram), rank) |> int.min(histogram.max_ns)
}

fn find_rank(buckets: List(#(Int, Int)), rank: Int) -> Int {
  case buckets {
    [] -> 0
    [#(bucket, count), ..] if count >= rank -> upper_bound_ns(bucket)
    [#(_, count), ..rest] -> find_rank(rest, rank - count)
  }
}

/// Microseconds with three decimals.
pub fn us(ns: Int) -> String {
  int.to_string(ns / 1000) <> "." <> string.pad_start(int.to_string(ns % 1000), 3, "0")
}

/// CSV `bucket_us,count`: the upper bounds (the largest value inside) of the buckets that are not empty, ascending.
pub fn to_csv(histogram: Histogram) -> String {
  let lines =
    list.map(ascending(histogram), fn(pair) { us(upper_bound_ns(pair.0)) <> "," <> int.to_string(pair.1) <> "\n" })
  "bucket_us,count\n" <> string.concat(lines)
}
