// `Idempotency-Key`: the same request with the same key within a day is answered as the first time, and done once.
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { ApiProblem, type Call } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { principalName } from "../principals/index.ts";
import type { CreatedIds, Making } from "./create.ts";
import type { Transaction } from "./store.ts";

/** Five images of 15 MB in base64, and the words around them. */
export const promptLimitBytes = 110 * 1024 * 1024;

type AnyCall = Pick<Call<unknown, unknown, unknown>, "principal" | "requestId" | "rawBody" | "header" | "context">;

const longestKey = 255;

/** Carries out a call that makes something. Two at once with one key: the second waits and gets the first's answer. */
export async function makeOnce(
  platform: Platform,
  call: AnyCall,
  make: (making: Making) => Promise<CreatedIds>,
): Promise<CreatedIds> {
  const { principal, requestId, rawBody, header, context } = call;
  const client = header("x-platform-client-type") ?? header("x-cursor-client-type");
  const asking = { principal, requestId, source: client === "sdk" ? "SDK" : "API" };
  const makeIn = (tx: Transaction) => make({ tx, platform, asking });
  const key = header("idempotency-key");
  if (key === undefined) return platform.db.transaction().execute(makeIn);
  if (key.length === 0 || key.length > longestKey)
    throw new ApiProblem("validation_error", `Idempotency-Key: must have 1 to ${longestKey} characters.`);
  // The same key for something else is a mistake.
  const path = context.req.path.toLowerCase();
  const hash = createHash("sha256").update(`${context.req.method} ${path}\n`).update(rawBody).digest();
  const { replayed, ...ids } = await once(platform, { name: principalName(principal), key, hash }, makeIn);
  if (replayed) context.header("Idempotency-Replayed", "true");
  return ids;
}

async function once(
  { db }: Platform,
  { name, key, hash }: { name: string; key: string; hash: Buffer },
  make: (tx: Transaction) => Promise<CreatedIds>,
): Promise<CreatedIds & { replayed: boolean }> {
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
