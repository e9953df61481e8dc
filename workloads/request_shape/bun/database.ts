/**
 * A connection whose statements are prepared at their first use and kept in the cache of bun:sqlite, unless the shape wants
 * none kept.
 */
import { Database as Connection, type Statement } from "bun:sqlite";
import { Check } from "./check.ts";
import { Counts } from "./counts.ts";
import { attempt } from "./failure.ts";
import type { Options } from "./options.ts";
import type { Shape } from "./shape.ts";
import { readSql } from "./sql.ts" with { type: "macro" };
import type { Trace } from "./trace.ts";

export const sql: Record<string, string> = readSql();

/** The statements of the requests; the SQL of each is the file sql/<name>.sql. */
export const STATEMENTS = [
  "begin_immediate", "commit", "rollback", "staff_by_id", "org_by_slug", "item_by_org_and_id", "count_sponsors", "count_tags",
  "count_taxes", "sum_parent_chain", "count_active_fees", "count_active_products", "count_addons", "fee_by_id", "org_by_id",
  "product_by_id", "count_fields", "count_item_fields", "count_active_discounts", "count_discount_items", "theme_by_id",
  "count_notices", "count_config_issues", "count_items", "item_revision", "update_item", "parent_of_org",
] as const;
export type StatementName = (typeof STATEMENTS)[number];

/** Above the number of statements, so that nothing is ever evicted. */
export const STATEMENT_CACHE_SIZE = 256;
export const STATEMENT_CACHE_DEFAULT = Connection.MAX_QUERY_CACHE_SIZE;

export type Value = number | string;
export type Row = Record<string, number | string | Uint8Array | null>;

export class Database {
  readonly #connection: Connection;
  readonly shape: Shape;
  readonly counts: Counts | null;
  /** When set, every executed statement is noted there. */
  trace: Trace | null = null;

  constructor(options: Options) {
    this.shape = options.shape;
    this.counts = options.statementCounts ? new Counts() : null;
    // Of all connections of the thread: they have one shape.
    if (this.shape.statement_cache === "fits") Connection.MAX_QUERY_CACHE_SIZE = STATEMENT_CACHE_SIZE;
    this.#connection = attempt(options.path, () => {
      const connection = new Connection(options.path, { readwrite: true, create: true });
      connection.run(sql.pragmas!);
      if (options.busyTimeoutMs !== null) connection.run(`PRAGMA busy_timeout=${options.busyTimeoutMs}`);
      return connection;
    });
  }

  close(): void {
    attempt("close", () => this.#connection.close(true));
  }

  /** Creates and fills the tables in one transaction. */
  seed(): void {
    attempt("seed", () => {
      this.#connection.run(sql.begin_immediate!);
      this.#connection.run(`PRAGMA user_version=${this.shape.rows}`);
      this.#connection.run(sql.schema!);
      if (this.shape.extra_tables + this.shape.extra_indexes > 0) this.#extendSchema();
      this.#connection.run(sql.seed!);
      this.#connection.run(sql.commit!);
    });
  }

  /** Runs the script that a query has written. */
  #extendSchema(): void {
    using statement = this.#connection.prepare<Row, Value[]>(sql.extra_schema!);
    const [script] = Object.values(statement.get(this.shape.extra_tables, this.shape.extra_indexes)!);
    this.#connection.run(script as string);
  }

  /** Rows changed since the connection was opened: after the seed all of them are the seed's. */
  countRows(): number {
    using statement = this.#connection.prepare<{ rows: number }, []>("SELECT total_changes() AS rows");
    return statement.get()!.rows;
  }

  /** The check sum of every row of every table. */
  sumEveryRow(): bigint {
    const check = new Check();
    for (const text of sql.every_row!.split("\n")) {
      using statement = this.#connection.prepare<Row, []>(text);
      for (const row of statement.iterate()) check.addRow(row);
    }
    return check.sum;
  }

  get inTransaction(): boolean {
    return this.#connection.inTransaction;
  }

  /** Reads the first row; an error when there is none. */
  query(name: StatementName, ...values: Value[]): Row {
    const statement = this.#statement(name);
    try {
      const row = statement.get(...values);
      if (row === null) throw new Error("a row that must be there is missing");
      if (this.trace) this.trace.note(name, values, row);
      return row;
    } finally {
      this.#release(statement);
    }
  }

  execute(name: StatementName, ...values: Value[]): void {
    const statement = this.#statement(name);
    try {
      statement.run(...values);
      if (this.trace) this.trace.note(name, values, null);
    } finally {
      this.#release(statement);
    }
  }

  #statement(name: StatementName): Statement<Row, Value[]> {
    const text = sql[name]!;
    const kept = this.shape.statement_cache !== "none";
    const statement = kept ? this.#connection.query<Row, Value[]>(text) : this.#connection.prepare<Row, Value[]>(text);
    if (this.counts) this.counts.ran(name, statement);
    return statement;
  }

  #release(statement: Statement): void {
    if (this.shape.statement_cache === "none") statement.finalize();
  }
}
