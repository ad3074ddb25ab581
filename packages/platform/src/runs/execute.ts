// One run from its claim to its end. Called again after a crash at any point, it goes on from what is written down.
import { join } from "node:path";
import { drive, lastTurn } from "@agentcli/engine";
import type { TurnEnd } from "@agentcli/protocol";
import type { RawBuilder } from "kysely";
import type { RunStatus } from "../db/index.ts";
import type { Handoff } from "../handoff/index.ts";
import type { NetworkPolicy } from "../network/index.ts";
import type { Platform } from "../platform.ts";
import type { Hub, Recorder } from "../streams/index.ts";
import type { OpenWorkspace, Workspaces } from "../workspaces/index.ts";
import type { Artifacts } from "./artifacts.ts";
import {
  type Equipment,
  type Intent,
  intentOf,
  movedHooks,
  openEquipment,
  type Sandboxes,
  turnSettings,
} from "./compose/index.ts";
import { readPast, takeUp } from "./conversation.ts";
import { failed, isFault, leavesItOpen, RunFault } from "./fault.ts";
import { finishRun, type RunEnd } from "./finish.ts";
import { type Claimed, mostDied } from "./lease.ts";
import { limitRun, spendReached } from "./limits.ts";
import { findUnpriced, modelsOfSubagents, unpriced } from "./pricing.ts";
import { openRunRecorder } from "./recorder.ts";
import { type OpenedRun, openRun } from "./records.ts";
import { openSessionStore } from "./session-store.ts";
import { type Allowance, allowanceOf } from "./spend.ts";

export interface RunHost {
  platform: Platform;
  hub: Hub;
  workspaces: Workspaces;
  handoff: Handoff;
  /** Throws RepositoryFault where the user who asked for the run may not reach a repository any more. */
  checkRepositories(userId: number | null, urls: string[], signal: AbortSignal): Promise<void>;
  sandboxes: Sandboxes;
  network: NetworkPolicy;
  artifacts: Artifacts;
  /** Part of the statement that ends a run and has it as `fence`: whoever is to be told is written down with it. */
  tellOthers(status: RunStatus, endedAt: Date): RawBuilder<unknown>;
}

/** Settles when the run has ended or is no longer ours. It ends with a status, or is left for somebody to go on with. */
export async function executeRun(claimed: Claimed, host: RunHost, signal: AbortSignal): Promise<void> {
  try {
    const opened = await openRun(host.platform, claimed);
    const intent = intentOf(opened.agent, opened.run.request, host.platform.settings);
    const recorder = await openRunRecorder(opened, intent.scrub, host);
    const end = await carryOut({ claimed, opened, intent, recorder, host }, signal).catch((error: unknown) => {
      if (leavesItOpen(error)) throw error;
      // What breaks off a run that was told to stop is no fault of the platform.
      if (!isFault(error) && !signal.aborted) host.platform.log.error("run failed", error, { runId: claimed.runId });
      return failed(error, signal);
    });
    await finishRun(end, { opened, recorder, platform: host.platform, tellOthers: host.tellOthers });
  } catch (error) {
    if (!leavesItOpen(error)) throw error;
    await removeRemains(claimed, host);
  }
}

interface Carrying {
  claimed: Claimed;
  opened: OpenedRun;
  intent: Intent;
  recorder: Recorder;
  host: RunHost;
}

async function carryOut(carrying: Carrying, given: AbortSignal): Promise<RunEnd> {
  const { claimed, opened, host } = carrying;
  const { platform, workspaces } = host;
  if (claimed.diedBefore >= mostDied) throw new RunFault("internal", diedTooOften);
  const { agent, spender } = opened;
  const limited = limitRun(given, opened, platform);
  try {
    const allowance = await allowanceOf(platform, spender);
    if (allowance.leftUsd === 0) throw new RunFault("spend_limit_reached", spendReached);
    if (allowance.leftUsd !== null) refuseUnpriced(carrying);
    const urls = agent.settings.repos.map(({ url }) => url);
    await host.checkRepositories(spender.userId, urls, limited.signal);
    const work = { agentId: agent.id, teamId: agent.teamId, name: agent.name, ...agent.settings };
    const workspace = await workspaces.open(work, limited.signal);
    return await driveIn(workspace, { ...carrying, allowance }, limited.signal);
  } finally {
    limited.release();
  }
}

function refuseUnpriced({ opened: { agent }, intent, host }: Carrying): void {
  const models = [intent.chosen.id, ...modelsOfSubagents(agent.private.customSubagents)];
  const model = findUnpriced(models, host.platform.settings);
  if (model !== null) throw new RunFault("invalid_model", unpriced(model));
}

const diedTooOften = `The run was given up: ${mostDied} servers in a row ended while they drove it, and it got no further. Ask again in smaller steps, or ask who runs the platform for its log.`;

async function driveIn(
  workspace: OpenWorkspace,
  { opened, intent, recorder, host, allowance }: Carrying & { allowance: Allowance },
  signal: AbortSignal,
): Promise<RunEnd> {
  const { db, settings } = host.platform;
  const { agent, key, fence } = opened;
  const store = openSessionStore({ db, key, agentId: agent.id, fence, recorder });
  const past = await readPast(opened, store, recorder);
  const turn = turnSettings(intent, workspace.root, allowance.budget);
  const agentDirectory = join(settings.dataDirectory, "workspaces", agent.id);
  const equipment = await openEquipment(
    {
      intent,
      turn,
      workspace,
      agentDirectory,
      store,
      frozen: past.state.seq === 0 ? null : movedHooks(past.state.frozen.hooks ?? [], agentDirectory),
      host: { settings, sandboxes: host.sandboxes, network: host.network },
      onProgress: recorder.progress,
    },
    signal,
  );
  let ended: TurnEnd;
  try {
    const log = past.ended ? null : await takeUp({ past, opened, intent, turn, equipment, store });
    ended = log ? await driveToEnd(log, equipment, signal) : (past.ended ?? unended);
  } finally {
    await equipment.close();
  }
  await keepWhatIsLeft(ended, { opened, equipment, host });
  return handOff(endOf(ended, allowance), { opened, host }, signal);
}

async function driveToEnd(
  log: Parameters<typeof drive>[0],
  { dependencies }: Equipment,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const ending = { signal, patienceMs: hookPatienceMs };
  return (await drive(lastTurn(log, dependencies, ending), dependencies, signal)).end ?? unended;
}

/** Whoever cancels a run does not wait longer than a second. */
const hookPatienceMs = 500;

const unended: TurnEnd = { status: "failed", code: "internal", message: "The conversation rests without an end." };

async function keepWhatIsLeft(
  ended: TurnEnd,
  { opened, equipment, host }: { opened: OpenedRun; equipment: Equipment; host: RunHost },
): Promise<void> {
  await host.artifacts.collect(opened, equipment.artifacts);
  if (opened.run.request.mode === "plan" && ended.status === "completed")
    await host.artifacts.keep(opened, "PLAN.md", Buffer.from(ended.message));
}

async function handOff(
  end: RunEnd,
  { opened, host }: { opened: OpenedRun; host: RunHost },
  signal: AbortSignal,
): Promise<RunEnd> {
  if (end.status !== "FINISHED" || opened.run.request.mode === "plan") return end;
  const { branches, faults } = await host.handoff.finish(opened.run.id, signal);
  const [fault] = faults;
  return fault ? { ...end, branches, status: "ERROR", error: fault } : { ...end, branches };
}

function endOf(end: TurnEnd, { bound }: Allowance): RunEnd {
  switch (end.status) {
    case "completed":
      return { branches: [], status: "FINISHED", text: end.message };
    case "cancelled":
      return { branches: [], status: "CANCELLED" };
    case "failed": {
      const isSpend = end.limit === "spend" || (end.code === "budget" && end.limit === "usd" && bound === "spend");
      const error = isSpend
        ? { code: "spend_limit_reached", message: spendReached }
        : { code: end.code, message: end.message };
      return { branches: [], status: "ERROR", error };
    }
  }
}

/** An agent that was deleted while it worked: what its last moments have left behind goes too. */
async function removeRemains({ agentId }: Claimed, { platform, workspaces, artifacts }: RunHost): Promise<void> {
  const agent = await platform.db.selectFrom("agents").select("id").where("id", "=", agentId).executeTakeFirst();
  if (agent) return;
  await workspaces.remove(agentId);
  await artifacts.removeAll(agentId);
}
