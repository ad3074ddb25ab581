// Where a page ends, as text that clients hand back. Rows are stamped in milliseconds, so nothing is lost on the way.
import { ApiError } from "./api-error.ts";

export interface Position {
  createdAt: Date;
  id: string;
}

/** What was asked for, of one row more than that, and the position of the next page where there is one. */
export function pageOf<Row>(rows: Row[], limit: number, positionOf: (row: Row) => Position): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last ? { items, nextCursor: encodeCursor(positionOf(last)) } : { items };
}

export interface Page<Row> {
  items: Row[];
  nextCursor?: string;
}

export const encodeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt.toISOString(), id])).toString("base64url");

/** Dates beyond four digits of a year, and some texts, are too much for the database. */
const instantLength = "2026-01-31T12:00:00.000Z".length;
const identifiers = { text: /^[\w-]{1,100}$/, uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ };

/** `id` is the type of the ids of the list: a cursor of another list is refused. */
export function decodeCursor(cursor: string | undefined, id: keyof typeof identifiers = "text"): Position | null {
  if (cursor === undefined) return null;
  try {
    const [at, last] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    const createdAt = new Date(at);
    if (at === createdAt.toISOString() && at.length === instantLength && identifiers[id].test(last))
      return { createdAt, id: last };
  } catch {
    // Not one of ours.
  }
  throw new ApiError("validation_error", "cursor: this is not a cursor of this list.");
}

/** For lists whose rows are counted, newest first: those before that number. */
export function decodeNumber(cursor: string | undefined): number {
  if (cursor === undefined) return largestNumber;
  const number = /^\d{1,10}$/.test(cursor) ? Number(cursor) : 0;
  if (number > 0 && number <= largestNumber) return number;
  throw new ApiError("validation_error", "cursor: this is not a cursor of this list.");
}

const largestNumber = 2 ** 31 - 1;
