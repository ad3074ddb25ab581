// Messages in the database. Delivered is one whose record is in the log: the same statement writes both.
import { randomUUID } from "node:crypto";
import type { StoredRecord } from "@agentcli/engine";
import type { RunMessage } from "@agentcli/protocol/api";
import { type RawBuilder, type Selectable, sql } from "kysely";
import {
  ApiError,
  type DataKey,
  notify,
  type Queries,
  type RunMessageTable,
  recordAuditEvent,
} from "../../foundation/index.ts";

export const messagesChannel = "run_messages";

const maxMessages = 100;

export interface NewMessage {
  runId: string;
  text: string;
  /** The same key adds the message once. */
  idempotencyKey: string | null;
}

type MessageRow = Selectable<RunMessageTable>;

/** Within a transaction that holds the agent: no run of it ends meanwhile. `key` is the agent's. */
export async function addMessage(
  tx: Queries,
  key: DataKey,
  { runId, text, idempotencyKey }: NewMessage,
): Promise<RunMessage> {
  const rows = await rowsOf(tx, runId);
  const former = rows.find((row) => idempotencyKey !== null && row.idempotency_key === idempotencyKey);
  const status = await statusOf(tx, runId);
  if (former) {
    const message = shown(former, key, status);
    if (message.text === text) return message;
    throw new ApiError("idempotency_conflict", "Idempotency-Key: was used for another message; use a new one.");
  }
  if (!isActive(status))
    throw new ApiError("run_not_active", `Run ${runId} has ended (${status}). Send the message as a follow-up.`);
  if (rows.length >= maxMessages)
    throw new ApiError(
      "message_limit_reached",
      `Run ${runId} has got ${maxMessages} messages, the limit of a run. Send the next one as a follow-up when it has ended.`,
    );
  const id = `msg-${randomUUID()}`;
  const row = await tx
    .insertInto("run_messages")
    .values({ id, run_id: runId, idempotency_key: idempotencyKey, text: key.seal(text, textAad(id)) })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAuditEvent(tx, { action: "run.message_added", subject: runId, data: { messageId: id } });
  await notify(tx, messagesChannel, runId);
  return shown(row, key, status);
}

/** In the order in which they came. */
export async function listMessages(db: Queries, key: DataKey, runId: string): Promise<RunMessage[]> {
  const [rows, status] = await Promise.all([rowsOf(db, runId), statusOf(db, runId)]);
  return rows.map((row) => shown(row, key, status));
}

export interface WaitingMessage {
  id: string;
  text: string;
}

export async function readWaiting(db: Queries, key: DataKey, runId: string): Promise<WaitingMessage[]> {
  const rows = (await rowsOf(db, runId)).filter(({ delivered_at }) => delivered_at === null);
  return rows.map(({ id, text }) => ({ id, text: key.openText(text, textAad(id)) }));
}

/** Part of the statement that stores records, which sees their run as `fence`; null where none of them is a message. */
export function deliveredIn(stored: StoredRecord[]): RawBuilder<unknown> | null {
  const ids = stored.flatMap(({ record }) => (record.type === "input.added" ? (record.clientId ?? []) : []));
  if (ids.length === 0) return null;
  return sql`update run_messages set delivered_at = now() from fence where run_id = fence.id and run_messages.id = any(${ids}::text[])`;
}

const rowsOf = (db: Queries, runId: string): Promise<MessageRow[]> =>
  db.selectFrom("run_messages").selectAll().where("run_id", "=", runId).orderBy("number").execute();

const statusOf = async (db: Queries, runId: string): Promise<string> =>
  (await db.selectFrom("runs").select("status").where("id", "=", runId).executeTakeFirst())?.status ?? "deleted";

const isActive = (status: string): boolean => status === "CREATING" || status === "RUNNING";

const textAad = (id: string): string => `run-message:${id}`;

function shown({ id, run_id, text, created_at, delivered_at }: MessageRow, key: DataKey, status: string): RunMessage {
  return {
    id,
    runId: run_id,
    text: key.openText(text, textAad(id)),
    status: delivered_at ? "delivered" : isActive(status) ? "pending" : "undelivered",
    createdAt: created_at.toISOString(),
  };
}
