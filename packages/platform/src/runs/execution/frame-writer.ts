// The frames of one run: continues after the stored frames and writes under the run's fence.
import { type Scrub, StaleWriter } from "@agentcli/engine";
import { sql } from "kysely";
import { isUniqueViolation, type PlatformContext, retryWhileAway } from "../../foundation/index.ts";
import {
  type Frame,
  type FrameWriter,
  type Hub,
  insertFrames,
  notifyReaders,
  openFrameWriter,
} from "../streams/index.ts";
import { threadOf } from "./ids.ts";
import type { ActiveRun } from "./records.ts";

export function openRunFrameWriter(
  activeRun: ActiveRun,
  scrub: Scrub,
  { platform, hub }: { platform: PlatformContext; hub: Hub },
): FrameWriter {
  const { log } = platform;
  const { agent, run } = activeRun;
  return openFrameWriter({
    threadId: threadOf(agent.id),
    turnId: run.id,
    bornAt: run.createdAt,
    after: run.lastFrame,
    scrub,
    insertDeltas: (frames) => insertDeltas(activeRun, frames, platform),
    publish: (frames) => hub.publish(run.id, frames),
    onProblem: (error) => log.error("frames could not be written", error, { runId: run.id }),
  });
}

/** Only the driver can write at this position: existing frames are from its own earlier attempt. Frames are published only after they are stored. */
async function insertDeltas({ key, run, fence }: ActiveRun, frames: Frame[], { db }: PlatformContext): Promise<void> {
  await retryWhileAway(async (before) => {
    try {
      const { rows } = await sql<{ held: boolean }>`
        with fence as (
          select id from runs
          where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
          for share
        ), shown as (${insertFrames(key, run.id, frames)})
        select exists (select from fence) as held, (${notifyReaders(run.id, frames)}) as told
      `.execute(db);
      if (!rows[0]?.held) throw new StaleWriter(run.id, "the run has another driver");
    } catch (error) {
      if (before === "first" || !isUniqueViolation(error)) throw error;
    }
  });
}
