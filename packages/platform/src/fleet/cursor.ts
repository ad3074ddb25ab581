// Where a stream of pending requests goes on: the last event that the reader has, and when its list was made.
import { type Kysely, sql } from "kysely";
import { ApiError, type Tables } from "../foundation/index.ts";

export interface StreamCursor {
  /** Of the list, by the clock of the database. */
  issuedAtMs: number;
  /** Of the last event. */
  positionMs: number;
}

const lifetimeMs = 5 * 60_000;

/** By the clock that stamps the rows: those of servers may differ. */
export async function databaseNow(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms
  `.execute(db);
  return Math.floor(rows[0]?.ms ?? 0);
}

export const encodeStreamCursor = ({ issuedAtMs, positionMs }: StreamCursor): string =>
  Buffer.from(`${issuedAtMs}.${positionMs}`).toString("base64url");

/** Throws `validation_error` or `cursor_expired`. */
export function decodeStreamCursor(text: string | undefined, nowMs: number): StreamCursor {
  const [, issued = "", position = ""] = /^(\d{13})\.(\d{13})$/.exec(
    Buffer.from(text ?? "", "base64url").toString("latin1"),
  ) ?? [""];
  if (issued === "")
    throw new ApiError("validation_error", "cursor: expected the streamCursor of the list of pending requests.");
  if (nowMs - Number(issued) > lifetimeMs || Number(issued) > nowMs)
    throw new ApiError("cursor_expired", "The list is older than five minutes. List the pending requests again.");
  return { issuedAtMs: Number(issued), positionMs: Number(position) };
}
