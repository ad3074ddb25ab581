// Statements that the database plans once for a connection and not each time: most of the time of those that every run
// makes goes into plans.
import { type RawBuilder, sql } from "kysely";

const mark = "/* prepared */";

/**
 * Part of a statement that has few different texts, and names the columns that it returns: each connection keeps every
 * text, and a migration would make `*` fail there. The plan holds for any values: those that an index is made for belong
 * in the text.
 */
export const prepared: RawBuilder<unknown> = sql.raw(mark);

const names = new Map<string, string>();

/** Undefined for a statement that is planned each time. */
export function nameOfPrepared(text: string): string | undefined {
  if (!text.includes(mark)) return undefined;
  const name = names.get(text) ?? `prepared_${names.size}`;
  names.set(text, name);
  return name;
}
