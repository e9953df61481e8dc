//// What a run of concurrent mode prints: its row, and its histograms as files.

import gleam/int
import gleam/list
import gleam/result
import gleam/string
import runner/histogram.{type Histogram}
import runner/options.{type Options}
import runner/system

fn summary(histogram: Histogram) -> String {
  [50, 95, 99]
  |> list.map(histogram.percentile_ns(histogram, _))
  |> list.append([histogram.max_ns])
  |> list.map(histogram.us)
  |> string.join(",")
}

/// Into the folder BENCHCTL_OUT, where there is one.
fn write_histogram_file(load: String, suffix: String, histogram: Histogram) -> Result(Nil, String) {
  case system.environment("BENCHCTL_OUT"), histogram.total {
    "", _ | _, 0 -> Ok(Nil)
    folder, _ -> {
      let path = folder <> "/" <> system.runner() <> "_app_request_" <> load <> suffix <> ".hist.csv"
      system.write_new(path, histogram.to_csv(histogram)) |> result.map_error(fn(why) { path <> ": " <> why })
    }
  }
}

pub fn print(options: Options, latencies: Histogram, busy_waits: Histogram) -> Result(Nil, String) {
  let load = options.load_name(options.load)
  use _ <- result.try(write_histogram_file(load, "", latencies))
  use _ <- result.try(write_histogram_file(load, ".errors", busy_waits))
  // Thousandths of requests a second, to the nearest.
  let per_second = { latencies.total * 2_000_000 + options.duration_ms } / { 2 * options.duration_ms }
  let cells = [
    system.runner() <> "/app_request/" <> load,
    int.to_string(options.workers),
    histogram.us(options.duration_ms),
    int.to_string(latencies.total),
    histogram.us(per_second),
    summary(latencies),
    int.to_string(busy_waits.total),
  ]
  system.print(
    "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors\n"
    <> string.join(cells, ",")
    <> "\n",
  )
}

/// --histogram: latencies from standard input, one a line, an empty line where the next worker's begin.
pub fn merge_histograms() -> Result(Nil, String) {
  use merged <- result.try(read_latencies(1, histogram.new(), histogram.new()))
  system.print("p50_us,p95_us,p99_us,max_us\n" <> summary(merged) <> "\n" <> histogram.to_csv(merged))
}

fn read_latencies(number: Int, merged: Histogram, worker: Histogram) -> Result(Histogram, String) {
  case system.read_line() {
    Error(_) -> Ok(histogram.add(merged, worker))
    Ok("\n") -> read_latencies(number + 1, histogram.add(merged, worker), histogram.new())
    Ok(line) -> {
      let digits = case string.ends_with(line, "\n") {
        True -> string.drop_end(line, 1)
        False -> line
      }
      let plain = string.byte_size(digits) <= 18 && !string.contains(digits, "-") && !string.contains(digits, "+")
      case plain, int.parse(digits) {
        True, Ok(ns) -> read_latencies(number + 1, merged, histogram.record(worker, ns))
        _, _ ->
          Error(
            "--histogram: line "
            <> int.to_string(number)
            <> " of standard input is not a whole number of nanoseconds",
          )
      }
    }
  }
}
