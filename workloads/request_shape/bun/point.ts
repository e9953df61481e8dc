/** What a run of concurrent mode prints: its row, and its histograms as files. */
import { readFileSync, writeFileSync } from "node:fs";
import { attempt, failure, printLine, RUNNER } from "./failure.ts";
import { Histogram } from "./histogram.ts";
import type { Options } from "./options.ts";

const us = (ns: number): string => (ns / 1000).toFixed(3);

const summary = (histogram: Histogram): string =>
  [...[50, 95, 99].map((percent) => histogram.percentileNs(percent)), histogram.maxNs].map(us).join(",");

/** Into the folder BENCHCTL_OUT, where there is one. */
function writeHistogramFile(load: string, suffix: string, histogram: Histogram): void {
  const folder = process.env.BENCHCTL_OUT;
  if (!folder || histogram.total === 0) return;
  const path = `${folder}/${RUNNER}_app_request_${load}${suffix}.hist.csv`;
  attempt(path, () => writeFileSync(path, histogram.toCsv(), { flag: "wx" }));
}

export function printPoint({ load, workers, durationMs }: Options, latencies: Histogram, busyWaits: Histogram): void {
  writeHistogramFile(load, "", latencies);
  writeHistogramFile(load, ".errors", busyWaits);
  const seconds = durationMs / 1000;
  const { total } = latencies;
  const throughput = `${seconds.toFixed(3)},${total},${(total / seconds).toFixed(3)}`;
  printLine("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors");
  printLine(`${RUNNER}/app_request/${load},${workers},${throughput},${summary(latencies)},${busyWaits.total}`);
}

/** --histogram: latencies from standard input, one a line, an empty line where the next worker's begin. */
export function mergeHistograms(): void {
  const merged = new Histogram();
  const workers = readFileSync(0, "utf8").replace(/\n$/, "").split("\n");
  let worker = new Histogram();
  workers.forEach((line, i) => {
    if (line === "") {
      merged.add(worker.toMessage());
      worker = new Histogram();
    } else if (/^[0-9]{1,18}$/.test(line)) {
      worker.record(Number(line));
    } else {
      throw failure("--histogram", `line ${i + 1} of standard input is not a whole number of nanoseconds`);
    }
  });
  merged.add(worker.toMessage());
  printLine(`p50_us,p95_us,p99_us,max_us\n${summary(merged)}\n${merged.toCsv().trimEnd()}`);
}
