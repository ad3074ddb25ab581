// The end of a run, for everybody who looks: status, result and the last frames, in one statement.
import { type FrameGroup, StaleWriter } from "@agentcli/engine";
import { type RawBuilder, sql } from "kysely";
import { notify, patiently, type RunStatus } from "../db/index.ts";
import type { HandedOffBranch } from "../handoff/index.ts";
import type { Platform } from "../platform.ts";
import { type Frame, insertFrames, type Recorder, tellReaders } from "../streams/index.ts";
import type { Fence } from "./lease.ts";
import type { OpenedRun } from "./records.ts";
import { errorPlace, resultPlace } from "./request.ts";

export type RunEnd = {
  /** The final message, where there is one. */
  text?: string;
  branches: HandedOffBranch[];
} & ({ status: "FINISHED" } | { status: "CANCELLED" } | { status: "ERROR"; error: { code: string; message: string } });

export interface Finishing {
  opened: OpenedRun;
  recorder: Recorder;
  platform: Platform;
  tellOthers(status: RunStatus, endedAt: Date): RawBuilder<unknown>;
}

export async function finishRun(end: RunEnd, finishing: Finishing): Promise<void> {
  const endedAt = new Date();
  await finishing.recorder.conclude(lastFrames(end, finishing.opened, endedAt), (frames) =>
    write(end, { ...finishing, endedAt, frames }),
  );
}

/** For a run that nobody can open: no word of it can be sealed, so there is none. Nor can anybody be told. */
export async function failUnopened({ runId, epoch }: Fence, { db }: Platform): Promise<void> {
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

interface Writing extends Finishing {
  endedAt: Date;
  frames: Frame[];
}

async function write(end: RunEnd, { opened, platform, endedAt, frames, tellOthers }: Writing): Promise<void> {
  const { fence, key, run } = opened;
  const error = end.status === "ERROR" ? end.error : null;
  // First the agent, then its run: whoever follows up locks them in this order.
  const { rows } = await patiently(() =>
    sql<{ held: boolean }>`
    with agent as (
      select id from agents where id = ${opened.agent.id} for no key update
    ), fence as (
      update runs set
        status = ${end.status}, ended_at = ${endedAt}, updated_at = ${endedAt}, lease_owner = null, lease_until = null,
        result = ${end.text === undefined ? null : key.seal(end.text, resultPlace(run.id))},
        error_code = ${error?.code ?? null},
        error_message = ${error === null ? null : key.seal(error.message, errorPlace(run.id))}
      from agent
      where runs.id = ${fence.runId} and agent_id = agent.id and lease_epoch = ${fence.epoch}
        and status in ('CREATING', 'RUNNING')
      returning runs.id, agent_id
    ), shown as (${insertFrames(key, fence.runId, frames)}),
    touched as (update agents set updated_at = ${endedAt} where id in (select agent_id from fence)),
    told_others as (${tellOthers(end.status, endedAt)})
    select exists (select from fence) as held, (${tellReaders(fence.runId, frames)}) as told
  `.execute(platform.db),
  );
  if (!rows[0]?.held) throw new StaleWriter(opened.agent.id, `run ${fence.runId} has another driver`);
}

function lastFrames(end: RunEnd, { run }: OpenedRun, endedAt: Date): FrameGroup[] {
  const { status, text, branches } = end;
  return [
    [
      {
        event: "result",
        data: {
          runId: run.id,
          status,
          ...(text !== undefined && { text }),
          // Clocks of two servers differ.
          durationMs: Math.max(0, endedAt.getTime() - run.startedAt.getTime()),
          ...(branches.length > 0 && { git: { branches } }),
          ...(status === "ERROR" && { error: end.error }),
        },
      },
      { event: "done", data: {} },
    ],
  ];
}
