//! Latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that every power of two
//! is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are added, never averaged.
use std::io::{self, Write};

/// Up to 2^40 ns, 18 minutes; what is longer counts in the last one.
const BUCKETS: usize = 256 * 33;

pub struct Histogram {
    pub total: u64,
    pub max_ns: u64,
    counts: Vec<u64>,
}

fn bucket_of(ns: u64) -> usize {
    let shift = 55u32.saturating_sub(ns.leading_zeros());
    ((shift as usize * 256) + (ns >> shift) as usize).min(BUCKETS - 1)
}

fn upper_bound_ns(bucket: usize) -> u64 {
    let shift = (bucket / 256).saturating_sub(1);
    (((bucket - shift * 256 + 1) as u64) << shift) - 1
}

impl Histogram {
    pub fn new() -> Self {
        Histogram { total: 0, max_ns: 0, counts: vec![0; BUCKETS] }
    }

    pub fn record(&mut self, ns: u64) {
        self.counts[bucket_of(ns)] += 1;
        self.total += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    pub fn add(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty histogram.
    pub fn percentile_ns(&self, percent: u64) -> u64 {
        let rank = (self.total * percent).div_ceil(100);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if rank > 0 && seen >= rank {
                return upper_bound_ns(bucket).min(self.max_ns);
            }
        }
        0
    }

    /// CSV `bucket_us,count`: the upper bounds (the largest value inside) of the buckets that are not empty, ascending.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "bucket_us,count")?;
        for (bucket, &count) in self.counts.iter().enumerate().filter(|(_, &count)| count > 0) {
            let ns = upper_bound_ns(bucket);
            writeln!(out, "{}.{:03},{count}", ns / 1000, ns % 1000)?;
        }
        out.flush()
    }
}
