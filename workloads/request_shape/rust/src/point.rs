//! What a run of concurrent mode prints: its row, and its histograms as files.
use crate::histogram::Histogram;
use crate::options::Options;
use crate::{print_line, runner, Failure};
use std::fs::OpenOptions;
use std::io::{BufRead, BufWriter};

/// Into the folder BENCHCTL_OUT, where there is one.
fn write_histogram_file(load: &str, suffix: &str, histogram: &Histogram) -> Result<(), Failure> {
    let folder = match std::env::var("BENCHCTL_OUT") {
        Ok(folder) if !folder.is_empty() && histogram.total > 0 => folder,
        _ => return Ok(()),
    };
    let path = format!("{folder}/{}_app_request_{load}{suffix}.hist.csv", runner());
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|file| histogram.write(&mut BufWriter::new(file)))
        .map_err(|error| Failure::new(&path, error))
}

/// p50_us,p95_us,p99_us,max_us.
fn columns(latencies: &Histogram) -> String {
    let ns = [latencies.percentile_ns(50), latencies.percentile_ns(95), latencies.percentile_ns(99), latencies.max_ns];
    ns.map(|ns| format!("{:.3}", ns as f64 / 1e3)).join(",")
}

pub fn print(options: &Options, latencies: &Histogram, busy_waits: &Histogram) -> Result<(), Failure> {
    let load = options.load.name();
    write_histogram_file(load, "", latencies)?;
    write_histogram_file(load, ".errors", busy_waits)?;
    let (seconds, requests) = (options.duration.as_secs_f64(), latencies.total);
    let rate = requests as f64 / seconds;
    print_line("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors")?;
    print_line(&format!(
        "{}/app_request/{load},{},{seconds:.3},{requests},{rate:.3},{},{}",
        runner(),
        options.workers,
        columns(latencies),
        busy_waits.total
    ))
}

pub fn merge_histograms() -> Result<(), Failure> {
    let (mut merged, mut worker) = (Histogram::new(), Histogram::new());
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| Failure::new("--histogram", error))?;
        if line.is_empty() {
            merged.add(&worker);
            worker = Histogram::new();
            continue;
        }
        let plain = line.len() <= 18 && line.bytes().all(|byte| byte.is_ascii_digit());
        match line.parse() {
            Ok(ns) if plain => worker.record(ns),
            _ => {
                let what = format!("line {} of standard input is not a whole number of nanoseconds", number + 1);
                return Err(Failure::new("--histogram", what));
            }
        }
    }
    merged.add(&worker);
    print_line("p50_us,p95_us,p99_us,max_us")?;
    print_line(&columns(&merged))?;
    merged.write(&mut std::io::stdout().lock()).map_err(|error| Failure::new("standard output", error))
}
