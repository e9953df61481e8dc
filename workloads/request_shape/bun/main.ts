/** bun_sqlite: the request shape on bun:sqlite. */
import { rmSync, writeSync } from "node:fs";
import { runConcurrent } from "./concurrent.ts";
import { Failure, RUNNER } from "./failure.ts";
import { printInfo } from "./info.ts";
import { DATABASE_SUFFIXES, HELP, type Options, parseOptions } from "./options.ts";
import { mergeHistograms } from "./point.ts";
import { printTrace, runSequential } from "./sequential.ts";
import { UsageError } from "./usage.ts";

async function run(options: Options): Promise<void> {
  const actions = {
    sequential: runSequential,
    concurrent: runConcurrent,
    trace: printTrace,
    info: printInfo,
    histogram: mergeHistograms,
  };
  try {
    await actions[options.action](options);
  } finally {
    // Also when it fails: its database is of no use to anybody.
    for (const suffix of DATABASE_SUFFIXES) rmSync(options.path + suffix, { force: true });
  }
}

async function main(): Promise<number> {
  try {
    const options = parseOptions(Bun.argv.slice(2));
    if (options === null) writeSync(1, HELP);
    else await run(options);
    return 0;
  } catch (error) {
    const message = error instanceof UsageError ? `${error.message}; see --help` : error instanceof Failure ? error.message : `unexpected: ${error}`;
    writeSync(2, `${RUNNER}: ${message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

// Ends threads too that are still at work.
process.exit(await main());
