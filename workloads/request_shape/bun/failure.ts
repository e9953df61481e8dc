/** What ends the program with exit code 1: one sentence that says what failed and why. */
import { writeSync } from "node:fs";
import { SQLiteError } from "bun:sqlite";

export const RUNNER = "bun_sqlite";

export class Failure extends Error {}

/** `reason` is an error or a sentence. */
export function failure(what: string, reason: unknown): Failure {
  const text = reason instanceof Error ? reason.message : String(reason);
  return new Failure(`${what}: ${text}${reason instanceof SQLiteError ? ` (SQLite error ${reason.errno})` : ""}`);
}

/** What `body` throws becomes a Failure of `what`. */
export function attempt<T>(what: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw error instanceof Failure ? error : failure(what, error);
  }
}

/** Prints at once. Output that did not arrive is a failure: a full disk must not look like a short result. */
export function printLine(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  } catch {
    throw failure("standard output", "it could not be written in full");
  }
}
