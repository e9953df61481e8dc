/** The values of flags. */

/** A wrong argument: one line on standard error, exit code 2. */
export class UsageError extends Error {}

/** A decimal number of digits only, from `min` to `max`. */
export function parseNumber(flag: string, text: string, min: number, max: number): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`${flag}: '${text}' is not a whole number`);
  const value = Number(text);
  if (value < min || value > max) throw new UsageError(`${flag}: ${text} is not within ${min} and ${max}`);
  return value;
}

/** Seconds with at most three decimals: 5, 0.25, and 5s as plans write it. In milliseconds. */
export function parseSeconds(flag: string, text: string, minMs: number): number {
  const [, whole, fraction] = /^([0-9]{1,5})(?:\.([0-9]{1,3}))?s?$/.exec(text) ?? [];
  if (whole === undefined) throw new UsageError(`${flag}: '${text}' is not a number of seconds`);
  const ms = Number(whole) * 1000 + Number((fraction ?? "").padEnd(3, "0"));
  if (ms < minMs || ms > 3_600_000) throw new UsageError(`${flag}: ${text} is not within ${minMs / 1000} and 3600 seconds`);
  return ms;
}

export function parseChoice<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((name) => name === text);
  if (choice === undefined) throw new UsageError(`${flag}: '${text}' is none of ${choices.join(", ")}`);
  return choice;
}
