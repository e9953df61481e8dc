package main

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// Up to 2^40 ns, 18 minutes; what is longer counts in the last one.
const buckets = 256 * 33

// histogram has latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that
// every power of two is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are
// added, never averaged.
type histogram struct {
	total  int64
	max    time.Duration
	counts [buckets]int64
}

func bucketOf(ns uint64) int {
	shift := max(bits.Len64(ns)-9, 0)
	return min(shift*256+int(ns>>shift), buckets-1)
}

func upperBound(bucket int) time.Duration {
	shift := max(bucket/256-1, 0)
	return time.Duration((bucket-shift*256+1)<<shift - 1)
}

func (h *histogram) record(took time.Duration) {
	h.counts[bucketOf(uint64(took))]++
	h.total++
	h.max = max(h.max, took)
}

func (h *histogram) add(other *histogram) {
	for bucket, count := range other.counts {
		h.counts[bucket] += count
	}
	h.total += other.total
	h.max = max(h.max, other.max)
}

// percentile is the upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty
// histogram.
func (h *histogram) percentile(percent int64) time.Duration {
	rank, seen := (h.total*percent+99)/100, int64(0)
	for bucket, count := range h.counts {
		seen += count
		if rank > 0 && seen >= rank {
			return min(upperBound(bucket), h.max)
		}
	}
	return 0
}

// write prints CSV bucket_us,count: the upper bounds (the largest value inside) of the buckets that are not empty,
// ascending.
func (h *histogram) write(to io.Writer) error {
	out := bufio.NewWriter(to)
	fmt.Fprintln(out, "bucket_us,count")
	for bucket, count := range h.counts {
		if ns := upperBound(bucket); count > 0 {
			fmt.Fprintf(out, "%d.%03d,%d\n", ns/1000, ns%1000, count)
		}
	}
	return out.Flush() // reports the first error of all
}
