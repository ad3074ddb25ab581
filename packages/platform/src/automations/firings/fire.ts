// Firings that are not planned: a webhook, or a person. The record comes first; a server that crashes leaves it to the next.
import { createHash } from "node:crypto";
import { ApiError, type CauseLink, type Queries, teamKey } from "../../foundation/index.ts";
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
  const { db, nodeId } = host.platform;
  const { idempotencyKey, source, payload } = request;
  if (idempotencyKey !== null && (idempotencyKey.length === 0 || idempotencyKey.length > maxKeyLength))
    throw new ApiError("validation_error", `Idempotency-Key: must have 1 to ${maxKeyLength} characters.`);
  const dedupeKey = idempotencyKey === null ? null : `${source} ${idempotencyKey}`;
  const claim = { claimed_by: nodeId, claimed_until: new Date(host.now().getTime() + claimMs), attempts: 1 };
  const inserted = await recordFiring(host, automation, { ...request, db, dedupeKey, causeId: null, claim });
  return inserted ?? findFormer(host, automation, { dedupeKey: dedupeKey ?? "", bodyHash: hashOf(payload) });
}

export interface NewRecord extends Omit<FiringRequest, "source" | "idempotencyKey"> {
  source: FiringRow["source"];
  db: Queries;
  dedupeKey: string | null;
  /** The firing whose run caused the event. */
  causeId: string | null;
  /** What led to the event, the nearest first. */
  causes?: CauseLink[];
  /** The delivery of its event never came, and the platform asked for it. */
  recovered?: boolean;
  /** Of the server that starts it at once; absent: the scheduler does. */
  claim?: { claimed_by: string; claimed_until: Date; attempts: number };
}

/** Undefined if there is one with the key already. */
export async function recordFiring(
  host: AutomationHost,
  automation: AutomationRow,
  { db, source, triggerId, payload, skipReason, dedupeKey, causeId, causes, recovered, claim }: NewRecord,
): Promise<FiringRow | undefined> {
  const now = host.now();
  const values = firingValues({ automationId: automation.id, source, triggerId, plannedAt: now, dedupeKey });
  const key = await teamKey(db, host.platform.vault, automation.team_id);
  return db
    .insertInto("automation_firings")
    .values({
      ...values,
      body_hash: hashOf(payload),
      // Only what starts needs its event: a webhook whose filter matches nothing must not fill the database.
      payload: skipReason === null ? payload && sealPayload(key, values.id, payload) : null,
      cause_id: causeId,
      causes: causes && causes.length > 0 ? JSON.stringify(causes) : null,
      recovered: recovered ?? false,
      ...claim,
      ...(skipReason !== null && { status: "skipped", reason: skipReason, decided_at: now }),
    })
    .onConflict((conflict) =>
      conflict.columns(["automation_id", "dedupe_key"]).where("dedupe_key", "is not", null).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

const hashOf = (payload: FiringPayload | null): Buffer =>
  createHash("sha256")
    .update(payload?.body ?? "")
    .digest();

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
