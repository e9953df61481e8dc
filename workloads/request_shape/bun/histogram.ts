/**
 * Latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that every power of two
 * is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are added, never averaged.
 */

/** Up to 2^40 ns, 18 minutes; what is longer counts in the last one. */
const BUCKETS = 256 * 33;

function bucketOf(ns: number): number {
  if (ns < 512) return ns;
  // Above 2^31 the bits of a number are no longer those of an int32.
  const bits = ns < 2 ** 31 ? 32 - Math.clz32(ns) : 63 - Math.clz32(Math.floor(ns / 2 ** 31));
  const shift = bits - 9;
  return Math.min(shift * 256 + Math.floor(ns / 2 ** shift), BUCKETS - 1);
}

function upperBoundNs(bucket: number): number {
  const shift = Math.max(Math.floor(bucket / 256) - 1, 0);
  return (bucket - shift * 256 + 1) * 2 ** shift - 1;
}

export class Histogram {
  total = 0;
  maxNs = 0;
  #counts = new Float64Array(BUCKETS);

  record(ns: number): void {
    this.#counts[bucketOf(ns)]!++;
    this.total++;
    if (ns > this.maxNs) this.maxNs = ns;
  }

  add({ total, maxNs, counts }: HistogramMessage): void {
    counts.forEach((count, bucket) => (this.#counts[bucket]! += count));
    this.total += total;
    this.maxNs = Math.max(this.maxNs, maxNs);
  }

  /** For another thread. */
  toMessage(): HistogramMessage {
    return { total: this.total, maxNs: this.maxNs, counts: this.#counts };
  }

  /** The upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty histogram. */
  percentileNs(percent: number): number {
    const rank = Math.ceil((this.total * percent) / 100);
    let seen = 0;
    for (let bucket = 0; rank > 0 && bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= rank) return Math.min(upperBoundNs(bucket), this.maxNs);
    }
    return 0;
  }

  /** CSV `bucket_us,count`: the upper bounds (the largest value inside) of the buckets that are not empty, ascending. */
  toCsv(): string {
    let csv = "bucket_us,count\n";
    this.#counts.forEach((count, bucket) => {
      const ns = upperBoundNs(bucket);
      if (count > 0) csv += `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, "0")},${count}\n`;
    });
    return csv;
  }
}

export interface HistogramMessage {
  total: number;
  maxNs: number;
  counts: Float64Array;
}
