//! Latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that every power of two
//! is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are added, never averaged.
const std = @import("std");

/// Up to 2^40 ns, 18 minutes; what is longer counts in the last one.
const buckets = 256 * 33;

fn bucketOf(ns: u64) usize {
    const shift: u6 = @intCast(55 -| @clz(ns));
    return @min(@as(usize, shift) * 256 + (ns >> shift), buckets - 1);
}

fn upperBoundNs(bucket: usize) u64 {
    const shift: u6 = @intCast((bucket / 256) -| 1);
    return ((bucket - @as(u64, shift) * 256 + 1) << shift) - 1;
}

pub const Histogram = struct {
    total: u64 = 0,
    max_ns: u64 = 0,
    counts: [buckets]u64 = @splat(0),

    pub fn record(self: *Histogram, ns: u64) void {
        self.counts[bucketOf(ns)] += 1;
        self.total += 1;
        self.max_ns = @max(self.max_ns, ns);
    }

    pub fn add(self: *Histogram, other: *const Histogram) void {
        for (&self.counts, other.counts) |*count, more| count.* += more;
        self.total += other.total;
        self.max_ns = @max(self.max_ns, other.max_ns);
    }

    /// The upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty histogram.
    pub fn percentileNs(self: *const Histogram, percent: u64) u64 {
        const rank = (self.total * percent + 99) / 100;
        var seen: u64 = 0;
        for (self.counts, 0..) |count, bucket| {
            seen += count;
            if (rank > 0 and seen >= rank) return @min(upperBoundNs(bucket), self.max_ns);
        }
        return 0;
    }

    /// CSV `bucket_us,count`: the upper bounds (the largest value inside) of the buckets that are not empty, ascending.
    pub fn write(self: *const Histogram, out: *std.Io.Writer) std.Io.Writer.Error!void {
        try out.writeAll("bucket_us,count\n");
        for (self.counts, 0..) |count, bucket| {
            const ns = upperBoundNs(bucket);
            if (count > 0) try out.print("{d}.{d:0>3},{d}\n", .{ ns / 1000, ns % 1000, count });
        }
        try out.flush();
    }
};
