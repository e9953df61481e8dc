/** One connection, requests one after another; and the trace of one request of each kind. */
import { Database } from "./database.ts";
import { attempt, printLine, RUNNER } from "./failure.ts";
import type { Options } from "./options.ts";
import { adminItemEdit, adminItemUpdate } from "./request.ts";
import { describeShape, itemCount } from "./shape.ts";
import { Trace } from "./trace.ts";

function printRow(name: string, items: number, ns: number, check: bigint): void {
  const nsPerItem = Math.floor((ns + Math.floor(items / 2)) / items);
  const fraction = String(nsPerItem % 1000).padStart(3, "0");
  printLine(`${RUNNER}/app_request/${name},${items},${Math.floor(ns / 1000)},${Math.floor(nsPerItem / 1000)}.${fraction},${check}`);
}

/** Requests 1 to `items`, timed; their check sums added up. */
function timed(name: string, { items, shape }: Options, request: (i: number, item: number) => bigint): void {
  const count = itemCount(shape);
  let check = 0n;
  const start = Bun.nanoseconds();
  attempt(name, () => {
    for (let i = 1; i <= items; i++) check = BigInt.asIntN(64, check + request(i, ((i - 1) % count) + 1));
  });
  printRow(name, items, Bun.nanoseconds() - start, check);
}

export function runSequential(options: Options): void {
  const db = new Database(options);
  printLine("case,items,micros,us_per_item,check");

  const start = Bun.nanoseconds();
  db.seed();
  const took = Bun.nanoseconds() - start;
  printRow("seed_dummy_data", db.countRows(), took, attempt("every_row", () => db.sumEveryRow()));

  timed("admin_item_edit", options, (_, item) => adminItemEdit(db, item));
  timed("admin_item_update", options, (i, item) => adminItemUpdate(db, i, item));
  db.close();
  db.counts?.print();
}

export function printTrace(options: Options): void {
  const db = new Database(options);
  db.seed();
  const edit = (db.trace = new Trace("admin_item_edit"));
  attempt(edit.request, () => adminItemEdit(db, 1));
  const update = (db.trace = new Trace("admin_item_update"));
  attempt(update.request, () => adminItemUpdate(db, 1, 1));
  printLine([...describeShape(options.shape), ...edit.lines, ...update.lines].join("\n"));
  db.close();
}
