// Ends a run: status, result, the last frames and the notifications, in one statement.
import { StaleWriter } from "@agentcli/engine";
import type { FrameGroup } from "@agentcli/surfaces/run-stream";
import { type RawBuilder, type Selectable, sql } from "kysely";
import {
  notify,
  type PlatformContext,
  prepared,
  type RunStatus,
  type RunTable,
  retryWhileAway,
} from "../../foundation/index.ts";
import type { HandedOffBranch } from "../../repositories/index.ts";
import type { Fence } from "../leases/lease.ts";
import { type Frame, type FrameWriter, insertFrames, notifyReaders } from "../streams/index.ts";
import type { ActiveRun } from "./records.ts";
import { errorAad, resultAad } from "./request.ts";
import type { RunTotals } from "./telemetry.ts";

export type RunEnd = {
  /** The final message, if any. */
  text?: string;
  branches: HandedOffBranch[];
} & (
  | { status: "FINISHED" }
  | { status: "CANCELLED" }
  /** EXPIRED: ended by a limit of time. */
  | { status: "ERROR" | "EXPIRED"; error: { code: string; message: string } }
);

/** Parts of the statement that ends a run, supplied by the owners of the tables they write. The run is available as `fence`. */
export interface EndOfRunStatements {
  touchAgent(endedAt: Date): RawBuilder<unknown>;
  enqueueDeliveries(status: RunStatus, endedAt: Date): RawBuilder<unknown>;
  enqueuePushes(status: RunStatus, endedAt: Date): RawBuilder<unknown>;
  recordOutcome(status: RunStatus): RawBuilder<unknown>;
  raiseRunAlert(status: RunStatus, endedAt: Date): RawBuilder<unknown>;
}

export interface FinishContext {
  activeRun: ActiveRun;
  frameWriter: FrameWriter;
  platform: PlatformContext;
  endOfRunStatements: EndOfRunStatements;
}

/** Returns what the run has used. */
export async function finishRun(end: RunEnd, context: FinishContext): Promise<RunTotals> {
  const endedAt = new Date();
  let used: Used | undefined;
  await context.frameWriter.conclude(lastFrames(end, context.activeRun, endedAt), async (frames) => {
    used = await write(end, { ...context, endedAt, frames });
  });
  return {
    status: end.status,
    code: "error" in end ? end.error.code : null,
    durationMs: durationMs(context.activeRun, endedAt),
    tokens: used ? { input: used.input_tokens, output: used.output_tokens } : null,
    costUsd: used?.cost_usd ? Number(used.cost_usd) : null,
  };
}

/** For a run whose data key cannot be opened: without it no message can be sealed and no notification written. */
export async function failUnopened({ runId, epoch }: Fence, { db }: PlatformContext): Promise<void> {
  const now = new Date();
  await db
    .updateTable("runs")
    .set({
      status: "ERROR",
      error_code: "internal",
      ended_at: now,
      updated_at: now,
      lease_owner: null,
      lease_until: null,
    })
    .where("id", "=", runId)
    .where("lease_epoch", "=", epoch)
    .where("status", "in", ["CREATING", "RUNNING"])
    .execute();
  await notify(db, "frames", runId);
}

interface EndContext extends FinishContext {
  endedAt: Date;
  frames: Frame[];
}

type Used = Pick<Selectable<RunTable>, "input_tokens" | "output_tokens" | "cost_usd">;

async function write(end: RunEnd, context: EndContext): Promise<Used> {
  const { activeRun, platform, endedAt, frames, endOfRunStatements } = context;
  const { fence, key, run } = activeRun;
  const error = "error" in end ? end.error : null;
  // First the agent, then its run: a follow-up locks them in the same order.
  const { rows } = await retryWhileAway(() =>
    sql<Used>`${prepared}
    with agent as (
      select id from agents where id = ${activeRun.agent.id} for no key update
    ), fence as (
      update runs set
        status = ${end.status}, ended_at = ${endedAt}, updated_at = ${endedAt}, lease_owner = null, lease_until = null,
        result = ${end.text === undefined ? null : key.seal(end.text, resultAad(run.id))},
        error_code = ${error?.code ?? null},
        error_message = ${error === null ? null : key.seal(error.message, errorAad(run.id))}
      from agent
      where runs.id = ${fence.runId} and agent_id = agent.id and lease_epoch = ${fence.epoch}
        and status in ('CREATING', 'RUNNING')
      returning runs.id, agent_id, team_id, input_tokens, output_tokens, cost_usd
    ), shown as (${insertFrames(key, fence.runId, frames)}),
    touched as (${endOfRunStatements.touchAgent(endedAt)}),
    deliveries as (${endOfRunStatements.enqueueDeliveries(end.status, endedAt)}),
    pushes as (${endOfRunStatements.enqueuePushes(end.status, endedAt)}),
    firings as (${endOfRunStatements.recordOutcome(end.status)}),
    alerts as (${endOfRunStatements.raiseRunAlert(end.status, endedAt)})
    select input_tokens, output_tokens, cost_usd, (${notifyReaders(fence.runId, frames)}) as told from fence
  `.execute(platform.db),
  );
  const [used] = rows;
  if (!used) throw new StaleWriter(activeRun.agent.id, `run ${fence.runId} has another driver`);
  return used;
}

/** Clocks of two servers differ. */
const durationMs = ({ run }: ActiveRun, endedAt: Date): number =>
  Math.max(0, endedAt.getTime() - run.startedAt.getTime());

function lastFrames(end: RunEnd, activeRun: ActiveRun, endedAt: Date): FrameGroup[] {
  const { run } = activeRun;
  const { status, text, branches } = end;
  return [
    [
      {
        event: "result",
        data: {
          runId: run.id,
          status,
          ...(text !== undefined && { text }),
          durationMs: durationMs(activeRun, endedAt),
          ...(branches.length > 0 && { git: { branches } }),
          ...("error" in end && { error: end.error }),
        },
      },
      { event: "done", data: {} },
    ],
  ];
}
