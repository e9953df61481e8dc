/** --info: what this program really is, as JSON. */
import { readFileSync } from "node:fs";
import { Database as Connection } from "bun:sqlite";
import { STATEMENT_CACHE_DEFAULT, STATEMENT_CACHE_SIZE } from "./database.ts";
import { printLine, RUNNER } from "./failure.ts";

/** Set by build.sh. */
declare const BUILD_FLAGS: string;

/** Bun is one program for every x86-64-v2 CPU: its string code uses AVX2 where there is one, which tells figures apart. */
function usesAvx2(): boolean {
  return /^flags\b.*\bavx2\b/m.test(readFileSync("/proc/cpuinfo", "utf8"));
}

export function printInfo(): void {
  const connection = new Connection(":memory:");
  const version = connection
    .query<{ version: string; source: string }, []>("SELECT sqlite_version() AS version, sqlite_source_id() AS source")
    .get()!;
  printLine(
    JSON.stringify({
      runner: RUNNER,
      language: "TypeScript",
      language_version: `Bun ${Bun.version} (${Bun.revision})`,
      driver: "bun:sqlite",
      driver_version: Bun.version,
      sqlite_version: version.version,
      sqlite_source_id: version.source,
      compile_options: connection.query("PRAGMA compile_options").values().flat(),
      statement_cache_size: STATEMENT_CACHE_SIZE,
      statement_cache_default: STATEMENT_CACHE_DEFAULT,
      build_flags: `${BUILD_FLAGS}; ${usesAvx2() ? "with" : "baseline, without"} AVX2 on this CPU`,
    }),
  );
}
