/** Runs while the program is bundled (imported as a macro): the one definition of the SQL becomes constants in it. */
import { readdirSync, readFileSync } from "node:fs";

/** Every file of sql/ by its name, without its last line feed. */
export function readSql(): Record<string, string> {
  const folder = `${import.meta.dir}/../sql`;
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return Object.fromEntries(names.map((name) => [name.slice(0, -4), readFileSync(`${folder}/${name}`, "utf8").replace(/\n$/, "")]));
}
