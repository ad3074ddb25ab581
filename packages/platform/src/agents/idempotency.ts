// `Idempotency-Key`: the same request with the same key within a day is answered as the first time, and done once.
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { type Principal, principalName } from "../principals/index.ts";
import type { CreatedIds } from "./create.ts";
import type { Transaction } from "./store.ts";

export interface KeyedRequest {
  principal: Principal;
  /** Null where none was sent. */
  key: string | null;
  /** Path and body: the same key for something else is a mistake. */
  request: string;
}

export type Made = CreatedIds & { replayed: boolean };

const longestKey = 255;

/** Two at once with one key: the second waits for the first and gets its answer. */
export async function onceByKey(
  { db }: Platform,
  { principal, key, request }: KeyedRequest,
  make: (tx: Transaction) => Promise<CreatedIds>,
): Promise<Made> {
  if (key === null) return { ...(await db.transaction().execute(make)), replayed: false };
  if (key.length === 0 || key.length > longestKey)
    throw new ApiProblem("validation_error", `Idempotency-Key: must have 1 to ${longestKey} characters.`);
  const name = principalName(principal);
  const hash = createHash("sha256").update(request).digest();
  // What is made and that it was made are one: a crash leaves both or neither.
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${name}\n${key}`}, 1))`.execute(tx);
    const known = await tx
      .selectFrom("idempotent_answers")
      .selectAll()
      .where("principal", "=", name)
      .where("key", "=", key)
      .where("created_at", ">", sql<Date>`now() - interval '24 hours'`)
      .executeTakeFirst();
    if (known && !known.body_hash.equals(hash))
      throw new ApiProblem("idempotency_conflict", "Idempotency-Key: was used for another request; take a new one.");
    if (known) return { agentId: known.agent_id, runId: known.run_id, replayed: true };
    const made = await make(tx);
    const row = { body_hash: hash, agent_id: made.agentId, run_id: made.runId, created_at: new Date() };
    await tx
      .insertInto("idempotent_answers")
      .values({ principal: name, key, status: 200, ...row })
      .onConflict((conflict) => conflict.columns(["principal", "key"]).doUpdateSet(row))
      .execute();
    return { ...made, replayed: false };
  });
}
