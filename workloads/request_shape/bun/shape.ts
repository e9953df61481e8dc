/** What of the request shape can be changed; the flags are those of ../sql/README.md. */
import { parseChoice, parseNumber } from "./usage.ts";

const LOOKUPS = ["recursive", "application"] as const;
const CACHES = ["fits", "default", "none"] as const;

export interface Shape {
  /** Factor on the tables that grow. */
  rows: number;
  extra_tables: number;
  extra_indexes: number;
  /** Of a request. */
  reads: number;
  writes: number;
  parent_lookup: (typeof LOOKUPS)[number];
  /** default: bun:sqlite's own, of 20 statements. */
  statement_cache: (typeof CACHES)[number];
}

export const DEFAULT_SHAPE: Readonly<Shape> = {
  rows: 1, extra_tables: 0, extra_indexes: 0, reads: 26, writes: 1, parent_lookup: "recursive", statement_cache: "fits",
};

export const SHAPE_HELP = `\
  --rows F               factor on the tables that grow, 1 to 1000 (1)
  --extra-tables N       more tables, 0 to 1000 (0)
  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)
  --reads N              reads of an edit, 1 to 1000 (26)
  --writes N             updates of an update request, 1 to 1000 (1)
  --parent-lookup L      recursive, or application: org by org (recursive)
  --statement-cache C    fits, default (the driver's own) or none (fits)
`;

/** What each flag does with its value. */
export const shapeFlags = (shape: Shape): Record<string, (flag: string, value: string) => void> => ({
  "--rows": (flag, value) => (shape.rows = parseNumber(flag, value, 1, 1000)),
  "--extra-tables": (flag, value) => (shape.extra_tables = parseNumber(flag, value, 0, 1000)),
  "--extra-indexes": (flag, value) => (shape.extra_indexes = parseNumber(flag, value, 0, 64)),
  "--reads": (flag, value) => (shape.reads = parseNumber(flag, value, 1, 1000)),
  "--writes": (flag, value) => (shape.writes = parseNumber(flag, value, 1, 1000)),
  "--parent-lookup": (flag, value) => (shape.parent_lookup = parseChoice(flag, value, LOOKUPS)),
  "--statement-cache": (flag, value) => (shape.statement_cache = parseChoice(flag, value, CACHES)),
});

/** Requests take the items in turn. */
export const itemCount = (shape: Shape): number => 100 * shape.rows;

/** The trace's first line; none for the default shape. */
export function describeShape(shape: Shape): string[] {
  const parts = Object.entries(shape).map(([name, value]) => `${name}=${value}`);
  return Bun.deepEquals(shape, DEFAULT_SHAPE) ? [] : [`shape\t${parts.join(" ")}`];
}
