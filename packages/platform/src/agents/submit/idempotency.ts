// Idempotency keys: for a while, the same request with the same key is answered like the first, and done once.
import { type Kysely, sql } from "kysely";
import { ApiError, inBatches, type PlatformContext, type RetentionRule, type Tables } from "../../foundation/index.ts";
import { type Principal, principalName } from "../../identity/index.ts";
import type { Transaction } from "../store.ts";
import type { CreatedIds } from "./insert.ts";

export interface IdempotencyKey {
  /** Chosen by the client, 1 to 255 characters. */
  key: string;
  /** Of the whole request: the same key for another request is a mistake. */
  hash: Buffer;
}

export interface IdempotentRequest {
  principal: Principal;
  idempotencyKey: IdempotencyKey | null;
}

const maxKeyLength = 255;

/** Of two at once with one key, the second waits and gets the answer of the first. */
export async function once(
  { db, settings }: PlatformContext,
  { principal, idempotencyKey }: IdempotentRequest,
  create: (tx: Transaction) => Promise<CreatedIds>,
): Promise<CreatedIds & { replayed: boolean }> {
  if (idempotencyKey === null) return { ...(await db.transaction().execute((tx) => create(tx))), replayed: false };
  const { key, hash } = idempotencyKey;
  if (key.length === 0 || key.length > maxKeyLength)
    throw new ApiError("validation_error", `Idempotency-Key: must have 1 to ${maxKeyLength} characters.`);
  const name = principalName(principal);
  // What is created and the note that it was are one transaction: a crash leaves both or neither.
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${name}\n${key}`}, 1))`.execute(tx);
    const former = await tx
      .selectFrom("idempotent_answers")
      .selectAll()
      .where("principal", "=", name)
      .where("key", "=", key)
      .where("created_at", ">", hoursAgo(settings.retention.idempotencyHours))
      .executeTakeFirst();
    if (former && !former.body_hash.equals(hash))
      throw new ApiError("idempotency_conflict", "Idempotency-Key: was used for another request; use a new one.");
    if (former) return { agentId: former.agent_id, runId: former.run_id, replayed: true };
    const created = await create(tx);
    const row = { body_hash: hash, agent_id: created.agentId, run_id: created.runId, created_at: new Date() };
    await tx
      .insertInto("idempotent_answers")
      .values({ principal: name, key, status: 200, ...row })
      .onConflict((conflict) => conflict.columns(["principal", "key"]).doUpdateSet(row))
      .execute();
    return { ...created, replayed: false };
  });
}

const hoursAgo = (hours: number) => sql<Date>`now() - ${hours} * interval '1 hour'`;

const batchSize = 500;

/** Answers that are no longer given. */
export const idempotencyRetention = (db: Kysely<Tables>, hours: number): RetentionRule => ({
  name: "idempotent answers",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from idempotent_answers where ctid = any(array(
          select ctid from idempotent_answers where created_at <= ${hoursAgo(hours)} limit ${batchSize} for update skip locked
        ))
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
