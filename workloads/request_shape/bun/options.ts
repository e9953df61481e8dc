/** The command line, the same in every runner. */
import { existsSync } from "node:fs";
import { RUNNER } from "./failure.ts";
import { DEFAULT_SHAPE, SHAPE_HELP, type Shape, shapeFlags } from "./shape.ts";
import { parseChoice, parseNumber, parseSeconds, UsageError } from "./usage.ts";

const LOADS = ["read", "write", "mixed", "single_writer", "open_read"] as const;
const ACTIONS = ["trace", "info", "histogram"] as const;

export interface Options {
  action: "sequential" | "concurrent" | (typeof ACTIONS)[number];
  shape: Shape;
  items: number;
  load: (typeof LOADS)[number];
  workers: number;
  /** open_read: requests a second of all workers. */
  rate: number;
  durationMs: number;
  warmupMs: number;
  /** Of the database. */
  path: string;
  /** null: that of pragmas.sql. */
  busyTimeoutMs: number | null;
  /** Print how often each statement was prepared and ran, on standard error. */
  statementCounts: boolean;
}

/** What SQLite leaves beside a database: nothing, the log, its index. */
export const DATABASE_SUFFIXES = ["", "-wal", "-shm"];

export const HELP = `\
${RUNNER} --mode sequential [--items N]
${RUNNER} --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup S]
${RUNNER} --trace | --info | --histogram | --help
  --items N              requests of each kind, one after another (10000)
  --workers W            threads, each with its own connection (1)
  --duration S           measured window in seconds (5)
  --warmup S             seconds before it (1)
  --rate R               requests due a second, of all workers (open_read, 1000)
  --db PATH              database to make, removed at the end (a fresh file in the working directory)
  --busy-timeout-ms N    instead of the 5000 of the pragmas
  --statement-counts     how often each statement was prepared and ran, on standard error
  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers
${SHAPE_HELP}`;

/** What a killed program has left is not ours to overwrite, and no new database may begin beside an old one's log. */
function refuseExisting(path: string): void {
  for (const suffix of DATABASE_SUFFIXES) {
    if (Buffer.byteLength(path + suffix) >= 4096) throw new UsageError("--db: the path is too long");
    if (existsSync(path + suffix)) throw new UsageError(`--db: '${path + suffix}' exists already`);
  }
}

function freshPath(): string {
  const ns = BigInt(Date.now()) * 1_000_000n + BigInt(Bun.nanoseconds() % 1e6);
  return `${RUNNER}-${process.pid}-${ns}.db`;
}

/** null: help is wanted. */
export function parseOptions(words: string[]): Options | null {
  const options: Options = {
    action: "sequential", shape: { ...DEFAULT_SHAPE }, items: 10_000, load: "read", workers: 1, rate: 1000, durationMs: 5000,
    warmupMs: 1000, path: "", busyTimeoutMs: null, statementCounts: false,
  };
  let mode: string | null = null;
  let load: string | null = null;
  let action: string | null = null;
  const withValue: Record<string, (flag: string, value: string) => void> = {
    "--mode": (_, value) => (mode = value),
    "--items": (flag, value) => (options.items = parseNumber(flag, value, 1, 1_000_000_000)),
    "--workload": (flag, value) => (options.load = parseChoice(flag, (load = value), LOADS)),
    "--workers": (flag, value) => (options.workers = parseNumber(flag, value, 1, 4096)),
    "--duration": (flag, value) => (options.durationMs = parseSeconds(flag, value, 1)),
    "--warmup": (flag, value) => (options.warmupMs = parseSeconds(flag, value, 0)),
    "--db": (_, value) => (options.path = value),
    "--busy-timeout-ms": (flag, value) => (options.busyTimeoutMs = parseNumber(flag, value, 0, 3_600_000)),
    "--rate": (flag, value) => (options.rate = parseNumber(flag, value, 1, 10_000_000)),
    ...shapeFlags(options.shape),
  };
  for (let i = 0; i < words.length; i++) {
    const flag = words[i]!;
    const wanted = ACTIONS.find((name) => flag === `--${name}`);
    if (flag === "--help") return null;
    if (wanted) {
      if (action) throw new UsageError(`${action} and ${flag} exclude each other`);
      action = flag;
      options.action = wanted;
    } else if (flag === "--statement-counts") {
      options.statementCounts = true;
    } else {
      const take = Object.hasOwn(withValue, flag) ? withValue[flag] : undefined;
      if (!take) throw new UsageError(`unknown argument '${flag}'`);
      const value = words[++i];
      if (!value) throw new UsageError(`${flag} needs a value`);
      take(flag, value);
    }
  }
  checkMode(options, mode, load, action);
  options.path ||= freshPath();
  refuseExisting(options.path);
  return options;
}

function checkMode(options: Options, mode: string | null, load: string | null, action: string | null): void {
  if (action && mode) throw new UsageError(`${action} and --mode exclude each other`);
  if (action) return;
  if (!mode) throw new UsageError("--mode is missing");
  if (mode !== "sequential" && mode !== "concurrent")
    throw new UsageError(`--mode: '${mode}' is neither sequential nor concurrent`);
  options.action = mode;
  if (mode === "concurrent" && !load) throw new UsageError("--workload is missing");
}
