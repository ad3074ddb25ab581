// Creates runs, and requests their cancellation.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { RunModel } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { noticeOfRun } from "../fleet/index.ts";
import { type DataKey, notify, type Queries } from "../foundation/index.ts";
import { type RunRequest, requestAad } from "./execution/request.ts";

export interface NewRun {
  /** Of `newRunId`. */
  id: string;
  agentId: string;
  key: DataKey;
  owner: { team_id: number; user_id: number | null; service_account_id: string | null };
  /** Number of the run within its agent, from 1. */
  number: number;
  requestId: string;
  request: RunRequest;
  model: Required<RunModel>;
  /** Its commands run on a worker. */
  needsWorker: boolean;
  now: Date;
}

export const newRunId = (): string => `run-${randomUUID()}`;

/**
 * False if the agent has an active run. Servers are notified in the same statement.
 */
export async function insertRun(tx: Queries, run: NewRun): Promise<boolean> {
  const { id } = run;
  const notified = await tx
    .with("inserted", (query) =>
      query
        .insertInto("runs")
        .values({
          id,
          agent_id: run.agentId,
          ...run.owner,
          number: run.number,
          status: "CREATING",
          request_id: run.requestId,
          request: run.key.seal(JSON.stringify(run.request), requestAad(id)),
          model: run.model.id,
          model_provider: run.model.provider,
          needs_worker: run.needsWorker,
          created_at: run.now,
          updated_at: run.now,
        })
        .onConflict((conflict) =>
          conflict.column("agent_id").where("status", "in", ["CREATING", "RUNNING"]).doNothing(),
        )
        .returning("id"),
    )
    .selectFrom("inserted")
    .select(sql`pg_notify('runs', ${noticeOfRun(run)})`.as("notified"))
    .executeTakeFirst();
  return notified !== undefined;
}

/** False if the run has already ended. Its driver ends it within a second; without a driver, the next server to claim it does. */
export async function requestCancel(db: Queries, runId: string): Promise<boolean> {
  const requested = await db
    .updateTable("runs")
    .set({ cancel_requested_at: new Date() })
    .where("id", "=", runId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .returning("id")
    .executeTakeFirst();
  if (!requested) return false;
  await notify(db, "cancels", runId);
  return true;
}

/** Requests cancellation of the agent's active runs and returns their ids. */
export async function requestCancelOfAll(db: Queries, agentId: string): Promise<string[]> {
  const active = await db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agentId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .execute();
  for (const { id } of active) await requestCancel(db, id);
  return active.map(({ id }) => id);
}

/** The driver may be dead; does not wait for the next server to claim the run. */
const maxWaitMs = 2_000;
const pollEveryMs = 25;

/** Returns when the run has ended, or after two seconds. */
export async function waitForEnd(db: Queries, runId: string): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  while (performance.now() < deadline) {
    const active = await db
      .selectFrom("runs")
      .select("id")
      .where("id", "=", runId)
      .where("status", "in", ["CREATING", "RUNNING"])
      .executeTakeFirst();
    if (!active) return;
    await pause(pollEveryMs);
  }
}
