// A list in parts: the cursor is where the next part begins.
import { invalidParams } from "../method.ts";

export interface PageRequest {
  cursor?: string | null;
  limit?: number | null;
}

/** All of it where no limit is named. */
export function pageOf<Entry>(
  entries: Entry[],
  { cursor, limit }: PageRequest,
): { data: Entry[]; nextCursor: string | null } {
  const from = cursor == null ? 0 : Number(cursor);
  if (!/^\d{1,9}$/.test(cursor ?? "0") || from > entries.length) {
    throw invalidParams(`cursor: ${JSON.stringify(cursor)} is not one this list has given.`);
  }
  const to = limit ? from + limit : entries.length;
  return { data: entries.slice(from, to), nextCursor: to < entries.length ? String(to) : null };
}
