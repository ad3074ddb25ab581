// The recorder of one run: behind the frames that are stored, and under its fence.
import { type Scrub, StaleWriter } from "@agentcli/engine";
import { sql } from "kysely";
import { isUniqueViolation, patiently } from "../db/index.ts";
import type { Platform } from "../platform.ts";
import { type Frame, type Hub, insertFrames, openRecorder, type Recorder, tellReaders } from "../streams/index.ts";
import { threadOf } from "./ids.ts";
import type { OpenedRun } from "./records.ts";

export async function openRunRecorder(
  opened: OpenedRun,
  scrub: Scrub,
  { platform, hub }: { platform: Platform; hub: Hub },
): Promise<Recorder> {
  const { db, log } = platform;
  const { agent, run } = opened;
  const { last } = await db
    .selectFrom("frames")
    .select(({ fn }) => fn.max("seq").as("last"))
    .where("run_id", "=", run.id)
    .executeTakeFirstOrThrow();
  return openRecorder({
    threadId: threadOf(agent.id),
    turnId: run.id,
    bornAt: run.createdAt,
    after: last ?? 0,
    scrub,
    insertDeltas: (frames) => insertDeltas(opened, frames, platform),
    publish: (frames) => hub.publish(run.id, frames),
    onProblem: (error) => log.error("frames could not be written", error, { runId: run.id }),
  });
}

/** Only the holder can have written there: frames that an attempt before left are these. What is not stored is shown to nobody. */
async function insertDeltas({ key, run, fence }: OpenedRun, frames: Frame[], { db }: Platform): Promise<void> {
  await patiently(async (before) => {
    try {
      const { rows } = await sql<{ held: boolean }>`
        with fence as (
          select id from runs
          where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
          for share
        ), shown as (${insertFrames(key, run.id, frames)})
        select exists (select from fence) as held, (${tellReaders(run.id, frames)}) as told
      `.execute(db);
      if (!rows[0]?.held) throw new StaleWriter(run.id, "the run has another driver");
    } catch (error) {
      if (before === "first" || !isUniqueViolation(error)) throw error;
    }
  });
}
