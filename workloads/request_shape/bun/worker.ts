/** Workers at once for a fixed time, one thread and one connection each: a thread's part. */
import { SQLiteError } from "bun:sqlite";
import type { CountsMessage } from "./counts.ts";
import { Database } from "./database.ts";
import { Failure, failure } from "./failure.ts";
import { Histogram, type HistogramMessage } from "./histogram.ts";
import type { Options } from "./options.ts";
import { adminItemEdit, adminItemUpdate } from "./request.ts";
import { itemCount } from "./shape.ts";

declare const self: Worker;

/** Places in the shared array: not zero once the clock starts; workers whose requests of the window have all ended. */
export const RELEASED = 0;
const FINISHED = 1;

interface WorkerSetup {
  role: "worker";
  options: Options;
  index: number;
  shared: Int32Array;
  /** single_writer: where updates go. */
  writer: MessagePort | null;
}

interface WriterSetup {
  role: "writer";
  options: Options;
  clients: MessagePort[];
}

export type ToThread = WorkerSetup | WriterSetup | { role: "close" };

export interface Ended {
  kind: "ended";
  latencies: HistogramMessage;
  busyWaits: HistogramMessage;
  counts: CountsMessage;
}

export type FromThread = { kind: "opened" } | { kind: "failed"; message: string } | Ended;

/** single_writer: an update handed to the thread that owns the one writing connection; answered by whether it stayed busy. */
interface Job {
  i: number;
  item: number;
}

/** single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes. */
const WRITER_PATIENCE_MS = 60_000;
/** open_read: above what a thread's waking up costs. */
const AWAKE_BEFORE_DUE_NS = 250_000;
const SQLITE_BUSY = 5;

const tell = (message: FromThread): void => self.postMessage(message);

/** Sends requests on a connection of its own. */
class OwnConnection {
  readonly #db: Database;
  readonly #load: string;
  constructor(options: Options) {
    this.#db = new Database(options);
    this.#load = options.load;
  }

  /** True: the write stayed busy. Any other error ends the program. */
  send(writes: boolean, i: number, item: number): boolean {
    try {
      if (writes) adminItemUpdate(this.#db, i, item);
      else adminItemEdit(this.#db, item);
      return false;
    } catch (error) {
      if (writes && error instanceof SQLiteError && (error.errno & 0xff) === SQLITE_BUSY) return true;
      throw failure(this.#load, error);
    }
  }

  close(): CountsMessage {
    this.#db.close();
    return this.#db.counts?.toMessage() ?? [];
  }
}

/** single_writer: hands updates to the thread that owns the one writing connection, and waits for each. */
class WriterQueue {
  #answer = Promise.withResolvers<boolean>();
  constructor(readonly port: MessagePort) {
    port.onmessage = (event) => this.#answer.resolve(event.data as boolean);
  }

  send(_: boolean, i: number, item: number): Promise<boolean> {
    this.#answer = Promise.withResolvers();
    this.port.postMessage({ i, item } satisfies Job);
    return this.#answer.promise;
  }

  close(): CountsMessage {
    this.port.close();
    return [];
  }
}

function isWrite(load: Options["load"], i: number): boolean {
  return load === "write" || load === "single_writer" || (load === "mixed" && i % 10 === 9);
}

/** open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them in turn. */
function dueNs({ options, index }: WorkerSetup, i: number): number {
  return Math.floor(((i * options.workers + index) * 1e9) / options.rate);
}

/** Sleeps until shortly before, then asks the clock. JavaScript has nothing to give up one's turn. */
function waitUntil(ns: number, shared: Int32Array): void {
  for (let left: number; (left = ns - Bun.nanoseconds()) > 0; )
    if (left > AWAKE_BEFORE_DUE_NS) Atomics.wait(shared, RELEASED, 1, (left - AWAKE_BEFORE_DUE_NS) / 1e6);
}

async function work(setup: WorkerSetup): Promise<void> {
  const { options, index, shared, writer } = setup;
  const items = itemCount(options.shape);
  const target = writer ? new WriterQueue(writer) : new OwnConnection(options);
  const latencies = new Histogram();
  const busyWaits = new Histogram();
  tell({ kind: "opened" });
  Atomics.wait(shared, RELEASED, 0);

  // Clocks of Bun's threads have origins of their own, so each takes the release as the start of its warm-up.
  const origin = Bun.nanoseconds();
  const begin = origin + options.warmupMs * 1e6;
  const end = begin + options.durationMs * 1e6;
  const open = options.load === "open_read";
  let finished = false;
  for (let i = 0; ; i++) {
    // An open loop's latency begins when the request is due: waiting for the one before is part of it.
    const start = open ? origin + dueNs(setup, i) : Bun.nanoseconds();
    // The load stays on until every request that started inside the window has ended.
    if (start >= end && !finished) {
      finished = true;
      Atomics.add(shared, FINISHED, 1);
    }
    if (finished && Atomics.load(shared, FINISHED) === options.workers) break;
    if (open) waitUntil(start, shared);
    const sent = target.send(isWrite(options.load, i), i, ((37 * index + i) % items) + 1);
    const busy = typeof sent === "boolean" ? sent : await sent;
    const took = Bun.nanoseconds() - start;
    if (start >= begin && start < end) (busy ? busyWaits : latencies).record(took);
  }
  const counts = target.close();
  tell({ kind: "ended", latencies: latencies.toMessage(), busyWaits: busyWaits.toMessage(), counts });
}

let closeWriter = (): void => {};

function writeForAll({ options, clients }: WriterSetup): void {
  const connection = new OwnConnection({ ...options, busyTimeoutMs: WRITER_PATIENCE_MS });
  for (const client of clients)
    client.onmessage = (event) => {
      const { i, item } = event.data as Job;
      void guard(() => client.postMessage(connection.send(true, i, item)));
    };
  closeWriter = () => {
    const none = new Histogram().toMessage();
    tell({ kind: "ended", latencies: none, busyWaits: none, counts: connection.close() });
  };
  tell({ kind: "opened" });
}

/** What goes wrong in a thread is told to the main thread, which ends the program. */
async function guard(body: () => void | Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    tell({ kind: "failed", message: error instanceof Failure ? error.message : `threads: ${error}` });
  }
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.role === "worker") void guard(() => work(data));
  else if (data.role === "writer") void guard(() => writeForAll(data));
  else void guard(closeWriter);
};
