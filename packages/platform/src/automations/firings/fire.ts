// Firings that are not planned: a webhook, or a person. The record comes first; a server that crashes leaves it to the next.
import { createHash } from "node:crypto";
import { ApiError, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { sealPayload } from "./payload.ts";
import type { FiringPayload } from "./prompt.ts";
import { startFiring } from "./start.ts";
import { type FiringRow, firingValues } from "./store.ts";

export interface FiringRequest {
  source: "webhook" | "manual";
  triggerId: string | null;
  payload: FiringPayload | null;
  /** Null: the client does not repeat requests. */
  idempotencyKey: string | null;
  /** It is recorded and starts nothing. */
  skipReason: string | null;
}

/** As long as another server would wait before it starts the firing itself. */
const claimMs = 60_000;
const maxKeyLength = 255;

/** Two requests with one key are one firing; the second gets the answer of the first. */
export async function fire(
  host: AutomationHost,
  automation: AutomationRow,
  request: FiringRequest,
): Promise<FiringRow> {
  const firing = await record(host, automation, request);
  return firing.status === "planned" ? startFiring(host, firing, automation) : firing;
}

async function record(host: AutomationHost, automation: AutomationRow, request: FiringRequest): Promise<FiringRow> {
  const { db, vault, nodeId } = host.platform;
  const { source, triggerId, payload, idempotencyKey, skipReason } = request;
  if (idempotencyKey !== null && (idempotencyKey.length === 0 || idempotencyKey.length > maxKeyLength))
    throw new ApiError("validation_error", `Idempotency-Key: must have 1 to ${maxKeyLength} characters.`);
  const now = host.now();
  const dedupeKey = idempotencyKey === null ? null : `${source} ${idempotencyKey}`;
  const values = firingValues({ automationId: automation.id, source, triggerId, plannedAt: now, dedupeKey });
  const key = await teamKey(db, vault, automation.team_id);
  const bodyHash = createHash("sha256")
    .update(payload?.body ?? "")
    .digest();
  const inserted = await db
    .insertInto("automation_firings")
    .values({
      ...values,
      body_hash: bodyHash,
      payload: payload && sealPayload(key, values.id, payload),
      claimed_by: nodeId,
      claimed_until: new Date(now.getTime() + claimMs),
      attempts: 1,
      ...(skipReason !== null && { status: "skipped", reason: skipReason, decided_at: now }),
    })
    .onConflict((conflict) =>
      conflict.columns(["automation_id", "dedupe_key"]).where("dedupe_key", "is not", null).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
  return inserted ?? findFormer(host, automation, { dedupeKey: dedupeKey ?? "", bodyHash });
}

async function findFormer(
  { platform: { db } }: AutomationHost,
  { id }: AutomationRow,
  { dedupeKey, bodyHash }: { dedupeKey: string; bodyHash: Buffer },
): Promise<FiringRow> {
  const former = await db
    .selectFrom("automation_firings")
    .selectAll()
    .where("automation_id", "=", id)
    .where("dedupe_key", "=", dedupeKey)
    .executeTakeFirstOrThrow();
  if (former.body_hash?.equals(bodyHash)) return former;
  throw new ApiError("idempotency_conflict", "Idempotency-Key: was used for another request; use a new one.");
}
