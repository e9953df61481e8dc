/** --trace: one line an executed statement. */
import { sql, type Row, type StatementName, type Value } from "./database.ts";

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  if (value instanceof Uint8Array) return `X'${value.toHex()}'`;
  return String(value);
}

const orDash = (values: unknown[]): string => values.map(literal).join(", ") || "-";

export class Trace {
  readonly lines: string[] = [];
  #step = 0;
  constructor(readonly request: string) {}

  note(name: StatementName, values: Value[], row: Row | null): void {
    const columns = row ? Object.values(row) : [];
    this.lines.push([this.request, ++this.#step, name, sql[name], orDash(values), orDash(columns)].join("\t"));
  }
}
