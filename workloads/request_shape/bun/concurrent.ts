/** Workers at once for a fixed time, one thread and one connection each: the main thread's part. */
import { Counts } from "./counts.ts";
import { Database } from "./database.ts";
import { Failure } from "./failure.ts";
import { Histogram } from "./histogram.ts";
import type { Options } from "./options.ts";
import { printPoint } from "./point.ts";
import { type Ended, type FromThread, RELEASED, type ToThread } from "./worker.ts";

/** A thread that runs worker.ts. A failure in it ends the whole program: the others would wait for one that has gone. */
class Thread {
  readonly #worker = new Worker(new URL("./worker.ts", import.meta.url).href);
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<Ended>();

  constructor(setup: ToThread, transfer: MessagePort[]) {
    this.#worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (data.kind === "opened") this.#opened.resolve();
      else if (data.kind === "ended") this.#ended.resolve(data);
      else this.#ended.reject(new Failure(data.message));
    };
    this.#worker.onerror = ({ message }) => this.#ended.reject(new Failure(`threads: ${message}`));
    this.#worker.postMessage(setup, transfer);
  }

  /** Its connection is open, or it needs none. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get ended(): Promise<Ended> {
    return this.#ended.promise;
  }

  close(): void {
    this.#worker.postMessage({ role: "close" } satisfies ToThread);
  }
}

/** The threads of the run, and the one that writes for all of them where there is one. */
function startThreads(options: Options, shared: Int32Array): { workers: Thread[]; writer: Thread | null } {
  const workers: Thread[] = [];
  const clients: MessagePort[] = [];
  for (let index = 0; index < options.workers; index++) {
    const channel = options.load === "single_writer" ? new MessageChannel() : null;
    if (channel) clients.push(channel.port2);
    const ports = channel ? [channel.port1] : [];
    workers.push(new Thread({ role: "worker", options, index, shared, writer: channel?.port1 ?? null }, ports));
  }
  const writer = clients.length > 0 ? new Thread({ role: "writer", options, clients }, clients) : null;
  return { workers, writer };
}

export async function runConcurrent(options: Options): Promise<void> {
  const db = new Database(options);
  db.seed();
  db.close();

  const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const { workers, writer } = startThreads(options, shared);
  const threads = writer ? [...workers, writer] : workers;
  const ended = Promise.all(threads.map((thread) => thread.ended));
  // Whichever comes first: all connections are open, or one has failed.
  await Promise.race([ended, Promise.all(threads.map((thread) => thread.opened))]);
  Atomics.store(shared, RELEASED, 1);
  Atomics.notify(shared, RELEASED);
  await Promise.race([ended, Promise.all(workers.map((worker) => worker.ended))]);
  writer?.close();

  const latencies = new Histogram();
  const busyWaits = new Histogram();
  const counts = new Counts();
  for (const outcome of await ended) {
    latencies.add(outcome.latencies);
    busyWaits.add(outcome.busyWaits);
    counts.add(outcome.counts);
  }
  printPoint(options, latencies, busyWaits);
  if (options.statementCounts) counts.print();
}
