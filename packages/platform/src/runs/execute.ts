// One run from its claim to its end. Called again after a crash at any point, it goes on from what is written down.
import { join } from "node:path";
import { builtInTools, drive, StaleWriter, type StopReason } from "@agentcli/engine";
import { durationMs, longestTimerMs } from "@agentcli/project";
import type { TurnEnd } from "@agentcli/protocol";
import { sql } from "kysely";
import type { Handoff } from "../handoff/index.ts";
import type { Platform } from "../platform.ts";
import { type Frame, type Hub, insertFrames, openRecorder, type Recorder, tellReaders } from "../streams/index.ts";
import type { Workspaces } from "../workspaces/index.ts";
import { composeDependencies, composeTurn } from "./compose.ts";
import { takeUp } from "./conversation.ts";
import { finishRun, type RunEnd } from "./finish.ts";
import { newId, threadOf } from "./ids.ts";
import type { Claimed } from "./lease.ts";
import type { Sandboxes } from "./place.ts";
import { type OpenedRun, openRun } from "./records.ts";
import { openSessionStore } from "./session-store.ts";
import { budgetOf, leftToSpend } from "./spend.ts";

export interface RunHost {
  platform: Platform;
  hub: Hub;
  workspaces: Workspaces;
  handoff: Handoff;
  sandboxes: Sandboxes;
  /** Takes what the agent left in the directory for people. Never throws: trouble with it is no trouble of the run. */
  keepArtifacts(run: Pick<OpenedRun, "agent" | "key">, directory: string): Promise<void>;
}

/** Settles when the run has ended or is no longer ours; whatever happens to it, it ends with a status. */
export async function executeRun(claimed: Claimed, host: RunHost, signal: AbortSignal): Promise<void> {
  const { platform } = host;
  const opened = await openRun(platform, claimed);
  const recorder = await openRunRecorder(opened, host);
  try {
    const end = await carryOut(opened, recorder, host, signal).catch((error: unknown) => {
      if (error instanceof StaleWriter) throw error;
      if (!isFault(error)) platform.log.error("run failed", error, { runId: claimed.runId });
      return failed(error, signal);
    });
    await finishRun(end, { opened, recorder, platform });
  } catch (error) {
    // Somebody else has it: whatever is to be written is theirs to write.
    if (!(error instanceof StaleWriter)) throw error;
  }
}

async function carryOut(opened: OpenedRun, recorder: Recorder, host: RunHost, signal: AbortSignal): Promise<RunEnd> {
  const { platform, workspaces, sandboxes, handoff, keepArtifacts } = host;
  const { agent, run, key, fence } = opened;
  const { settings, db } = platform;
  const left = await leftToSpend(db, agent);
  if (left === 0) throw new RunFault("spend_limit_reached", "The spend limit of this month is reached.");
  const work = { agentId: agent.id, teamId: agent.teamId, name: agent.name, ...agent.settings };
  const { root } = await workspaces.open(work, signal);
  const budget = budgetOf(settings, left);
  const composed = composeTurn({ agent, request: run.request, settings, root, budget });
  const place = await sandboxes.place({
    mode: composed.turn.sandbox,
    root,
    agentDirectory: join(settings.dataDirectory, "workspaces", agent.id),
    variables: { ...agent.private.envVars, ...run.request.envVars },
    newIncarnation: newId,
  });
  try {
    const store = openSessionStore({ db, key, agentId: agent.id, fence, recorder });
    const conversation = await takeUp({ opened, composed, place, tools: builtInTools, store, recorder });
    const dependencies = composeDependencies(composed, { place, settings, onProgress: recorder.progress });
    const wallMs = [durationMs(settings.models.limits?.wall ?? "off"), budget?.wallMs ?? null];
    const end =
      conversation.ended ?? (await drive(conversation.log, dependencies, withWall(signal, wallMs))).end ?? unended;
    const ended = endOf(end, conversation.records);
    if (ended.status !== "FINISHED") return ended;
    const { branches, faults } = await handoff.finish(run.id, signal);
    const [fault] = faults;
    return fault ? { ...ended, branches, status: "ERROR", error: fault } : { ...ended, branches };
  } finally {
    await place.workspace.close();
    await keepArtifacts(opened, place.artifacts);
  }
}

async function openRunRecorder({ agent, run, key, fence }: OpenedRun, { platform, hub }: RunHost): Promise<Recorder> {
  const { db, log } = platform;
  const { last } = await db
    .selectFrom("frames")
    .select(({ fn }) => fn.max("seq").as("last"))
    .where("run_id", "=", run.id)
    .executeTakeFirstOrThrow();
  return openRecorder({
    threadId: threadOf(agent.id),
    bornAt: run.createdAt,
    after: last ?? 0,
    scrub: (text) => text,
    async insertDeltas(frames: Frame[]) {
      await sql`
        with fence as (
          select id from runs
          where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
          for share
        ), shown as (${insertFrames(key, run.id, frames)})
        select exists (select from fence) as held, (${tellReaders(run.id, frames)}) as told
      `.execute(db);
    },
    publish: (frames) => hub.publish(run.id, frames),
    onProblem: (error) => log.error("frames could not be written", error, { runId: run.id }),
  });
}

/** What ends a run for a reason that its owner can do something about. */
export class RunFault extends Error {
  override name = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const isFault = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && /Fault$|^SandboxUnavailable$/.test(error.name);

function failed(error: unknown, signal: AbortSignal): RunEnd {
  const nothing = { branches: [], charged: [] };
  if (signal.aborted) return { ...nothing, status: "CANCELLED" };
  if (!isFault(error))
    return { ...nothing, status: "ERROR", error: { code: "internal", message: "The run failed inside the platform." } };
  return { ...nothing, status: "ERROR", error: { code: error.code ?? "sandbox", message: error.message } };
}

function endOf(end: TurnEnd, charged: RunEnd["charged"]): RunEnd {
  const made = { branches: [], charged };
  switch (end.status) {
    case "completed":
      return { ...made, status: "FINISHED", text: end.message };
    case "cancelled":
      return { ...made, status: "CANCELLED" };
    case "failed":
      return { ...made, status: "ERROR", error: { code: end.code, message: end.message } };
  }
}

const unended: TurnEnd = { status: "failed", code: "internal", message: "The conversation rests without an end." };

function withWall(signal: AbortSignal, limits: (number | null)[]): AbortSignal {
  const wallMs = Math.min(...limits.map((limitMs) => limitMs ?? Infinity), longestTimerMs);
  if (wallMs === longestTimerMs) return signal;
  const stop = new AbortController();
  const message = `The run reached its wall limit of ${wallMs} ms.`;
  const reason: StopReason = { end: { status: "failed", code: "limit", message, limit: "wall" } };
  setTimeout(() => stop.abort(reason), wallMs).unref();
  return AbortSignal.any([signal, stop.signal]);
}
