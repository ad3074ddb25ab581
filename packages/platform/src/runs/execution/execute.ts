// Executes one run from its claim to its end. After a crash at any point it is called again and continues from the log.
import { driveServiceTurn } from "@agentcli/host";
import type { HookDefinition, TurnEnd } from "@agentcli/protocol";
import {
  denyAllPolicy,
  type EgressRecord,
  type EgressRecordOptions,
  openEgressRecord,
  policyOf,
} from "../../egress/index.ts";
import type { ChosenEnvironment } from "../../environments/index.ts";
import { needsWorker, type UsedWorker } from "../../fleet/index.ts";
import { isStorageFull, type Settings } from "../../foundation/index.ts";
import { type EgressSettings, readStartSettings } from "../../identity/index.ts";
import { removeAgentMachine } from "../../machines/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import { openRunDisk, type RunDisk, removeSavedDisk, saveIfPossible } from "../disks/index.ts";
import { type ClaimedRun, maxClaimsWithoutProgress } from "../leases/lease.ts";
import type { Recorder } from "../streams/index.ts";
import { type Allowance, allowanceOf, limitedTo, priceUnknown, spendLimitReached } from "../usage/index.ts";
import { collectArtifacts, publishChanges, toRunEnd } from "./after-turn.ts";
import { type AgentPaths, agentPaths } from "./agent-paths.ts";
import { openRunSocket, type RunSocket, removeAgentSocket } from "./agent-socket.ts";
import { openAssembly, planRun, type RunAssembly, type RunPlan, turnSettings } from "./compose/index.ts";
import { type RunHistory, readHistory, resume } from "./conversation.ts";
import { endAfterError, isUserFacingError, leavesRunOpen, RunFault } from "./fault.ts";
import { finishRun, type RunEnd } from "./finish.ts";
import { writeInbox } from "./inbox.ts";
import { startRunLimits } from "./limits.ts";
import { findUnpriced, modelsOfSubagents } from "./pricing.ts";
import { openRunRecorder } from "./recorder.ts";
import { openRunRecording } from "./recording.ts";
import { type ActiveRun, openAgent, openRun, recordEgress, recordModel } from "./records.ts";
import { hookWithSandboxPaths } from "./repository-files/index.ts";
import type { DriverHost, RunHost } from "./run-host.ts";
import { chooseRunEnvironment, openRunMachine, type RunMachine } from "./run-machine.ts";
import { openRunWorker } from "./run-worker.ts";
import { openSessionStore } from "./session-store.ts";
import { openRunTelemetry, type RunTelemetry } from "./telemetry.ts";
import { openRunTraces, type RunTraces } from "./traces.ts";
import { secretsOfRun } from "./worker-secrets.ts";

/** Resolves when the run has ended with a status, or when another process must resume it. */
export async function executeRun(claimed: ClaimedRun, host: DriverHost, signal: AbortSignal): Promise<void> {
  let directory: string | null = null;
  try {
    const opened = await openAgent(host.platform, claimed);
    directory = opened.agent.directory;
    const [activeRun, { settings, egress }, agentSecrets, accountAllowance] = await Promise.all([
      openRun(host, claimed, opened),
      readStartSettings(host.platform, opened.agent),
      host.secrets.ofAgent(opened.agent, opened.key),
      allowanceOf(host.platform, claimed),
    ]);
    const allowance = limitedTo(accountAllowance, activeRun.run.request.budgetUsd);
    const traces = openRunTraces(host.platform, activeRun);
    const secrets = await secretsOfRun(activeRun, { secrets: agentSecrets, host }, signal);
    const plan = traces.withTraceVariable(planRun({ ...activeRun, secrets }, settings));
    await recordModel(host.platform, activeRun, plan.selectedModel);
    const telemetry = openRunTelemetry(host.platform, claimed);
    const { id: model, provider } = plan.selectedModel;
    telemetry.started({ startedAt: activeRun.run.startedAt, model, provider });
    const recorder = openRunRecorder(activeRun, plan.scrub, host);
    const end = await execute(
      { claimed, activeRun, settings, egressSettings: egress, allowance, plan, recorder, telemetry, traces, host },
      signal,
    ).catch(async (error: unknown) => {
      if (leavesRunOpen(error)) throw error;
      if (isStorageFull(error)) await host.platform.storage.check();
      // After a cancellation, or when the agent was deleted with its directories, errors are expected.
      const isExpected = isUserFacingError(error) || signal.aborted || (await isDeleted(claimed, host));
      if (!isExpected) host.platform.log.error("run failed", error, { runId: claimed.runId });
      return endAfterError(error, signal);
    });
    const { platform, endOfRunStatements } = host;
    telemetry.ended(await finishRun(end, { activeRun, recorder, platform, endOfRunStatements }));
    await traces.end();
  } catch (error) {
    // All rows of a deleted agent are gone: what is read or written for it fails, and there is nothing to report.
    const wasDeleted = await isDeleted(claimed, host);
    if (wasDeleted && directory !== null) await cleanUpDeletedAgent(directory, host);
    if (!wasDeleted && !leavesRunOpen(error)) throw error;
  }
}

interface RunContext {
  claimed: ClaimedRun;
  activeRun: ActiveRun;
  /** Settings of the server, with those of the agent's team on top. */
  settings: Settings;
  egressSettings: EgressSettings;
  allowance: Allowance;
  plan: RunPlan;
  recorder: Recorder;
  telemetry: RunTelemetry;
  traces: RunTraces;
  host: DriverHost;
}

/** Checks what the run needs, starts its limits and opens its workspace; an end by a limit is a RunEnd, not an error. */
async function execute(context: RunContext, outerSignal: AbortSignal): Promise<RunEnd> {
  const { claimed, activeRun, allowance, host } = context;
  const { platform, workspaces } = host;
  if (claimed.claimsWithoutProgress >= maxClaimsWithoutProgress) throw new RunFault("internal", abandonedMessage);
  const { agent, requester } = activeRun;
  const limits = startRunLimits(outerSignal, activeRun, platform);
  try {
    if (allowance.remainingUsd === 0) throw new RunFault("spend_limit_reached", spendLimitReached);
    if (allowance.remainingUsd !== null || activeRun.run.request.budgetUsd !== undefined) assertModelsPriced(context);
    const urls = agent.settings.repos.map(({ url }) => url);
    const [environment] = await Promise.all([
      needsWorker(agent.settings.env) ? null : chooseRunEnvironment({ activeRun, ...host }, limits.signal),
      host.checkRepositories(requester.userId, urls, limits.signal),
    ]);
    const { id: agentId, directory, teamId, name } = agent;
    const repos =
      environment === null ? agent.settings.repos : host.environments.pinRepositories(environment, agent.settings);
    const workspaceSpec = { agentId, directory, teamId, name, ...agent.settings, repos };
    const disk = openRunDisk({
      platform,
      workspaces,
      location: host.diskLocation,
      run: { ...activeRun, isOnWorker: environment === null, isResumed: claimed.status === "RUNNING" },
    });
    const warnings = await disk.prepare(workspaceSpec, limits.signal);
    const workspace = await workspaces.open(workspaceSpec, limits.signal);
    await limits.diskMeasured;
    const saved = { runId: claimed.runId, log: host.platform.log };
    // Files of a new run on a worker exist on this server alone until they are saved: a server that takes the run over
    // begins with the same commits.
    if (environment === null && claimed.status === "CREATING") await saveIfPossible(disk, saved);
    const end = await driveInWorkspace(workspace, { ...context, environment, disk, warnings }, limits.signal);
    await saveIfPossible(disk, saved);
    return end;
  } catch (error) {
    const reached = limits.reached();
    if (leavesRunOpen(error) || reached === null) throw error;
    return toRunEnd(reached);
  } finally {
    limits.release();
  }
}

function assertModelsPriced({ activeRun: { agent }, plan, host }: RunContext): void {
  const models = [{ id: plan.selectedModel.id }, ...modelsOfSubagents(agent.private.customSubagents)];
  const model = findUnpriced(models, host.platform.settings);
  if (model !== null) throw new RunFault("invalid_model", priceUnknown(model));
}

const abandonedMessage = `The run was stopped: ${maxClaimsWithoutProgress} times in a row, the server that had taken it over stopped before it made progress. Try splitting the task; if it happens again, ask an administrator to check the server log.`;

interface DriveContext extends RunContext {
  disk: RunDisk;
  /** For readers of the run. */
  warnings: string[];
  /** Null: the commands run on a worker, which has an environment of its own. */
  environment: ChosenEnvironment | null;
}

/** Opens what the commands run in: a machine of this server, or a worker. */
async function driveInWorkspace(workspace: OpenWorkspace, context: DriveContext, signal: AbortSignal): Promise<RunEnd> {
  const { activeRun, host, environment } = context;
  if (environment === null) {
    const worker = await openRunWorker(workspace, context, signal);
    try {
      const warnings = [...context.warnings, ...worker.warnings];
      return await driveTurn(workspace, { ...context, warnings, machine: null, worker, socket: null }, signal);
    } finally {
      worker.leave();
    }
  }
  const { id, name, directory } = activeRun.agent;
  const identified = { id, name, directory, environmentId: environment.environment?.id ?? null };
  const socket = await openRunSocket({ settings: host.platform.settings, serve: host.serveIdentity }, identified);
  try {
    const opened = { chosen: environment, workspace, readable: [socket.directory] };
    const machine = await openRunMachine({ activeRun, ...host }, opened, signal);
    try {
      return await driveTurn(workspace, { ...context, machine, worker: null, socket }, signal);
    } finally {
      await machine.release();
    }
  } finally {
    socket.close();
  }
}

/** Where the commands run. */
type ExecutionTarget =
  | { machine: RunMachine; worker: null; socket: RunSocket }
  | { machine: null; worker: UsedWorker; socket: null };

/** Drives the turn of the run to its end, then keeps its artifacts and publishes its changes. */
async function driveTurn(
  workspace: OpenWorkspace,
  {
    activeRun,
    settings,
    egressSettings,
    plan,
    recorder,
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
  const { agent, key, fence } = activeRun;
  const recording = await openRunRecording({ activeRun, plan, ...host });
  const stored = openSessionStore({ db, key, agentId: agent.id, fence, recorder, onCharged: telemetry.charged });
  const saving = worker === null ? disk.savingStore(stored) : stored;
  const store = recording.store(traces.tracedStore(saving, worker?.description));
  const [history, tools] = await Promise.all([readHistory(activeRun, { store, db }, recorder), toolsFor(plan, host)]);
  const policy =
    agent.settings.effects === undefined
      ? policyOf(egressSettings, { agent, environment: machine?.egress, publicUrl: host.publicUrl() })
      : denyAllPolicy;
  const isNewThread = history.state.seq === 0;
  const paths = agentPaths(settings.dataDirectory, agent.directory);
  const turn = turnSettings(plan, paths.toSandboxPath(workspace.root), allowance.budget);
  const egress = await openEgress(activeRun, { db, policy, scrub: plan.scrub });
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
        recorded: recording.model,
        recordedHooks: isNewThread ? null : hooksOf(history, paths),
        host: { settings, sandboxes: host.sandboxes, network: host.network },
        onProgress(progress) {
          telemetry.progressed(progress);
          recorder.progress(progress);
        },
      },
      signal,
    );
    await machine?.choiceRecorded;
    await writeInbox(plan, { assembly, paths });
    // An earlier server may have finished the turn already; then only the steps after it remain.
    ended =
      history.ended ??
      (await driveServiceTurn(await resume({ history, activeRun, plan, turn, assembly, warnings }), assembly, signal));
  } finally {
    await assembly?.close();
    await egress.close();
  }
  await worker?.copyFilesBack();
  await collectArtifacts(ended, { activeRun, assembly, host });
  // The recording is stored after the artifacts of the agent, so that none of them can overwrite it. If an earlier server finished the turn, the recording was stored there.
  if (history.ended === null) await recording.keep();
  return publishChanges(toRunEnd(ended, allowance.limitedBy), { activeRun, plan, host, workspace }, signal);
}

const toolsFor = ({ agent, request: { mode }, proposedServers, scrub }: RunPlan, { toolsOf }: DriverHost) => {
  const { id: agentId, teamId, source } = agent;
  const { repos: repositories, effects } = agent.settings;
  return toolsOf({ agentId, teamId, source, repositories, mode, effects, proposedServers, scrub });
};

/** The hooks that the conversation began with. */
const hooksOf = ({ state }: RunHistory, paths: AgentPaths): HookDefinition[] =>
  (state.frozen.hooks ?? []).map((hook) => hookWithSandboxPaths(hook, paths));

const openEgress = (
  activeRun: ActiveRun,
  { db, policy, scrub }: Pick<EgressRecordOptions, "db" | "policy" | "scrub">,
): Promise<EgressRecord> =>
  openEgressRecord({
    db,
    key: activeRun.key,
    runId: activeRun.fence.runId,
    policy,
    isResumed: activeRun.fence.epoch > 1,
    store: (sealed) => recordEgress(db, activeRun, sealed),
    scrub,
    now: () => new Date(),
  });

/** The agent was deleted during the run: removes what the run wrote since. */
async function cleanUpDeletedAgent(directory: string, host: RunHost): Promise<void> {
  await removeAgentMachine(host.platform.settings, directory);
  await removeAgentSocket(host.platform.settings, directory);
  await host.workspaces.remove(directory);
  await host.artifacts.removeAll(directory);
  await removeSavedDisk(host.platform, directory);
}

/** Looks for the run, not for its agent: another agent may have been created with the id of a deleted one. */
async function isDeleted({ runId }: ClaimedRun, { platform: { db } }: RunHost): Promise<boolean> {
  return !(await db.selectFrom("runs").select("id").where("id", "=", runId).executeTakeFirst());
}
