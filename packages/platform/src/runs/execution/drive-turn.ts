// Drives the turn of one run where its commands run: a machine of this server, or a worker.
import type { SessionStore } from "@agentcli/engine";
import { driveServiceTurn } from "@agentcli/host";
import type { HookDefinition, TurnEnd } from "@agentcli/protocol";
import { denyAllPolicy, type EgressRecord, openEgressRecord, policyOf } from "../../egress/index.ts";
import type { ChosenEnvironment } from "../../environments/index.ts";
import type { UsedWorker } from "../../fleet/index.ts";
import type { Settings } from "../../foundation/index.ts";
import type { EgressSettings } from "../../identity/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import type { RunDisk } from "../disks/index.ts";
import type { ClaimedRun } from "../leases/lease.ts";
import type { FollowedMessages } from "../messages/index.ts";
import type { FrameWriter } from "../streams/index.ts";
import type { Allowance } from "../usage/index.ts";
import { collectArtifacts, publishChanges, toRunEnd } from "./after-turn.ts";
import { type AgentPaths, agentPaths } from "./agent-paths.ts";
import type { RunSocket } from "./agent-socket.ts";
import { openAssembly, type RunAssembly, type RunPlan, turnSettings } from "./compose/index.ts";
import { openTurnLog, type RunHistory, readHistory } from "./conversation.ts";
import type { RunEnd } from "./finish.ts";
import { writeWakeEvents } from "./inbox.ts";
import { openRunRecording, type RunRecording } from "./recording.ts";
import { type ActiveRun, saveEgress } from "./records.ts";
import { hookWithSandboxPaths } from "./repository-files/index.ts";
import type { DriverHost } from "./run-host.ts";
import type { RunMachine } from "./run-machine.ts";
import { openSessionStore } from "./session-store.ts";
import type { RunTelemetry } from "./telemetry.ts";
import type { RunTraces } from "./traces.ts";

export interface RunContext {
  claimed: ClaimedRun;
  activeRun: ActiveRun;
  /** Settings of the server, with those of the agent's team on top. */
  settings: Settings;
  egressSettings: EgressSettings;
  allowance: Allowance;
  plan: RunPlan;
  frameWriter: FrameWriter;
  telemetry: RunTelemetry;
  traces: RunTraces;
  host: DriverHost;
}

export interface DriveContext extends RunContext {
  disk: RunDisk;
  /** For readers of the run. */
  warnings: string[];
  /** Null: the commands run on a worker, which has an environment of its own. */
  environment: ChosenEnvironment | null;
}

/** Where the commands run. */
export type ExecutionTarget =
  | { machine: RunMachine; worker: null; socket: RunSocket }
  | { machine: null; worker: UsedWorker; socket: null };

/** Drives the turn of the run to its end, then keeps its artifacts and publishes its changes. */
export async function driveTurn(
  workspace: OpenWorkspace,
  {
    activeRun,
    settings,
    egressSettings,
    plan,
    frameWriter,
    telemetry,
    traces,
    host,
    allowance,
    disk,
    warnings,
    machine,
    worker,
    socket,
  }: DriveContext & ExecutionTarget,
  signal: AbortSignal,
): Promise<RunEnd> {
  const { db } = host.platform;
  const { agent } = activeRun;
  const recording = await openRunRecording({ activeRun, plan, ...host });
  const store = openStore({ activeRun, frameWriter, telemetry, traces, disk, worker, recording, host });
  const [history, tools] = await Promise.all([
    readHistory(activeRun, { store, db }, frameWriter),
    toolsFor(plan, host),
  ]);
  const paths = agentPaths(settings.dataDirectory, agent.directory);
  const turn = turnSettings(plan, paths.toSandboxPath(workspace.root), allowance.budget);
  const egress = await openEgress({ activeRun, egressSettings, plan, machine, host });
  const messages = host.messages.follow(activeRun);
  let assembly: RunAssembly | undefined;
  let ended: TurnEnd;
  try {
    assembly = await openAssembly(
      {
        machine,
        worker,
        socket,
        egress,
        plan,
        tools,
        turn,
        workspace,
        paths,
        store,
        withRecording: recording.model,
        recordedHooks: history.state.seq === 0 ? null : hooksOf(history, paths),
        host: { settings, sandboxes: host.sandboxes, network: host.network },
        onProgress(progress) {
          telemetry.progressed(progress);
          frameWriter.progress(progress);
        },
      },
      signal,
    );
    await machine?.whenChoiceRecorded;
    await writeWakeEvents(plan, { assembly, paths });
    if (history.ended) {
      // An earlier server has finished the turn: only the steps after it remain.
      ended = history.ended;
    } else {
      const log = await openTurnLog({ history, activeRun, plan, turn, assembly, warnings });
      ended = await driveServiceTurn(log, withMessages(assembly, messages), signal);
    }
  } finally {
    messages.close();
    await assembly?.close();
    await egress.close();
  }
  await worker?.copyFilesBack();
  await collectArtifacts(ended, { activeRun, assembly, host });
  // The recording is stored after the artifacts of the agent, so that none of them can overwrite it. If an earlier server finished the turn, that server stored the recording.
  if (history.ended === null) await recording.keep();
  return publishChanges(toRunEnd(ended, allowance.limitedBy), { activeRun, plan, host, workspace }, signal);
}

const withMessages = ({ dependencies, endServers }: RunAssembly, { take }: FollowedMessages) => ({
  endServers,
  dependencies: { ...dependencies, steering: take },
});

type StoreContext = Pick<DriveContext, "activeRun" | "frameWriter" | "telemetry" | "traces" | "disk" | "host"> &
  Pick<ExecutionTarget, "worker"> & { recording: RunRecording };

/** The store in the database; around it the one that saves files with each record, then traces, then the recording that was asked for. */
function openStore(context: StoreContext): SessionStore {
  const { activeRun, frameWriter, telemetry, traces, disk, worker, recording, host } = context;
  const { agent, key, fence } = activeRun;
  const { db } = host.platform;
  const stored = openSessionStore({ db, key, agentId: agent.id, fence, frameWriter, onCharged: telemetry.charged });
  const saving = worker === null ? disk.savingStore(stored) : stored;
  return recording.store(traces.tracedStore(saving, worker?.description));
}

const toolsFor = ({ agent, request: { mode }, proposedServers, scrub }: RunPlan, { toolsOf }: DriverHost) => {
  const { id: agentId, teamId, source } = agent;
  const { repos: repositories, effects } = agent.settings;
  return toolsOf({ agentId, teamId, source, repositories, mode, effects, proposedServers, scrub });
};

/** The hooks that the conversation began with. */
const hooksOf = ({ state }: RunHistory, paths: AgentPaths): HookDefinition[] =>
  (state.frozen.hooks ?? []).map((hook) => hookWithSandboxPaths(hook, paths));

type EgressContext = Pick<DriveContext, "activeRun" | "egressSettings" | "plan" | "host"> &
  Pick<ExecutionTarget, "machine">;

/** A run with `effects` only shows what it would do: nothing leaves it. */
function openEgress({ activeRun, egressSettings, plan, machine, host }: EgressContext): Promise<EgressRecord> {
  const { agent, key, fence } = activeRun;
  const { db } = host.platform;
  const policy =
    agent.settings.effects === undefined
      ? policyOf(egressSettings, { agent, environment: machine?.egress, publicUrl: host.publicUrl() })
      : denyAllPolicy;
  return openEgressRecord({
    db,
    key,
    runId: fence.runId,
    policy,
    isResumed: fence.epoch > 1,
    store: (sealed) => saveEgress(db, activeRun, sealed),
    scrub: plan.scrub,
    now: () => new Date(),
  });
}
