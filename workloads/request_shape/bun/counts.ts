/**
 * How often each statement was prepared and ran. bun:sqlite does not show SQLite's own counters; what can be seen is
 * whether the cache hands out the statement of last time or another one, which was then prepared. That SQLite prepared one
 * again by itself is not seen.
 */
import type { Statement } from "bun:sqlite";
import { STATEMENTS, type StatementName } from "./database.ts";

interface Count {
  prepared: number;
  runs: number;
}

export class Counts {
  readonly #counts = new Map<StatementName, Count>();
  readonly #last = new Map<StatementName, Statement>();

  ran(name: StatementName, statement: Statement): void {
    this.#add(name, { prepared: this.#last.get(name) === statement ? 0 : 1, runs: 1 });
    this.#last.set(name, statement);
  }

  add(other: CountsMessage): void {
    for (const [name, count] of other) this.#add(name, count);
  }

  /** For another thread. */
  toMessage(): CountsMessage {
    return [...this.#counts];
  }

  /** One line a statement that ran, on standard error. */
  print(): void {
    for (const name of STATEMENTS) {
      const count = this.#counts.get(name);
      if (count) process.stderr.write(`${name} prepared=${count.prepared} runs=${count.runs}\n`);
    }
  }

  #add(name: StatementName, { prepared, runs }: Count): void {
    const count = this.#counts.get(name) ?? { prepared: 0, runs: 0 };
    count.prepared += prepared;
    count.runs += runs;
    this.#counts.set(name, count);
  }
}

export type CountsMessage = [StatementName, Count][];
