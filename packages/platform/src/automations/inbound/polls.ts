// When deliveries of webhooks were last asked for, and with which result: each connection is polled by one server at a time.
import { sql } from "kysely";
import type { AutomationHost } from "../host.ts";

export interface Claimed {
  /** Until when deliveries are known; null: there was no poll. */
  seenUntil: Date | null;
  failure: string | null;
}

/** Null: it is not time yet, or another server does it. */
export async function claimPoll(
  { platform: { db }, now }: AutomationHost,
  { connection, intervalMs }: { connection: string; intervalMs: number },
): Promise<Claimed | null> {
  const next_at = new Date(now().getTime() + intervalMs);
  const row = await db
    .insertInto("delivery_polls")
    .values({ connection, next_at })
    .onConflict((conflict) =>
      conflict.column("connection").doUpdateSet({ next_at }).where("delivery_polls.next_at", "<=", now()),
    )
    .returning(["seen_until", "failure"])
    .executeTakeFirst();
  return row ? { seenUntil: row.seen_until, failure: row.failure } : null;
}

export interface Found {
  recovered: number;
  /** Null: nothing more is known than before. */
  seenUntil: Date | null;
  /** What is missing, and why. */
  failure: string | null;
}

/** Throws RepositoryFault and ApiError. */
export type PollWork = (claimed: Claimed, signal: AbortSignal) => Promise<Polled>;

export interface Polled extends Found {
  /** Not before, where it need not be asked as often. */
  nextAt?: Date;
}

export async function notePoll(
  { platform: { db } }: AutomationHost,
  connection: string,
  { recovered, seenUntil, failure, nextAt }: Polled,
): Promise<void> {
  await db
    .updateTable("delivery_polls")
    .set({
      ...{ failure, recovered: sql`recovered + ${recovered}` },
      ...(seenUntil && { seen_until: seenUntil }),
      ...(nextAt && { next_at: nextAt }),
    })
    .where("connection", "=", connection)
    .execute();
}
