// Executes one run from its claim to its end. After a crash at any point it is called again and continues from the log.
import { setTimeout as pause } from "node:timers/promises";
import { needsWorker } from "../../fleet/index.ts";
import { isStorageFull, KeyServiceFault, type Log } from "../../foundation/index.ts";
import { isFormerUser, readStartSettings } from "../../identity/index.ts";
import { removeAgentMachine } from "../../machines/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import { openRunDisk, removeSavedDisk, saveIfPossible } from "../disks/index.ts";
import { type ClaimedRun, maxClaimsWithoutProgress } from "../leases/lease.ts";
import { allowanceOf, limitedTo, priceUnknown, spendLimitReached } from "../usage/index.ts";
import { toRunEnd } from "./after-turn.ts";
import { openRunSocket, removeAgentSocket } from "./agent-socket.ts";
import { credentialsOfRun } from "./cloud-role.ts";
import { planRun } from "./compose/index.ts";
import { type DriveContext, driveTurn, type RunContext } from "./drive-turn.ts";
import { endAfterError, isUserFacingError, leavesRunOpen, RunFault } from "./fault.ts";
import { finishRun, type RunEnd } from "./finish.ts";
import { openRunFrameWriter } from "./frame-writer.ts";
import { startRunLimits } from "./limits.ts";
import { findUnpriced, modelsOfSubagents } from "./pricing.ts";
import { openAgent, openRun, saveModel } from "./records.ts";
import type { DriverHost, RunHost } from "./run-host.ts";
import { chooseRunEnvironment, openRunMachine } from "./run-machine.ts";
import { openRunWorker } from "./run-worker.ts";
import { openRunTelemetry } from "./telemetry.ts";
import { openRunTraces } from "./traces.ts";
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
    await saveModel(host.platform, activeRun, plan.selectedModel);
    const telemetry = openRunTelemetry(host.platform, claimed);
    const { id: model, provider } = plan.selectedModel;
    telemetry.started({ startedAt: activeRun.run.startedAt, model, provider });
    const frameWriter = openRunFrameWriter(activeRun, plan.scrub, host);
    const end = await execute(
      { claimed, activeRun, settings, egressSettings: egress, allowance, plan, frameWriter, telemetry, traces, host },
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
    telemetry.ended(await finishRun(end, { activeRun, frameWriter, platform, endOfRunStatements }));
    await traces.end();
  } catch (error) {
    // All rows of a deleted agent are gone: what is read or written for it fails, and there is nothing to report.
    const wasDeleted = await isDeleted(claimed, host);
    if (wasDeleted && directory !== null) await cleanUpDeletedAgent(directory, host);
    if (!wasDeleted && !leavesRunOpen(error)) throw error;
    if (!wasDeleted && error instanceof KeyServiceFault) await waitForKeyService(error, { claimed, host }, signal);
  }
}

/** A run that is left is claimed at once. The lease stays while this waits. */
async function waitForKeyService(
  { message, reason }: KeyServiceFault,
  { claimed, host }: { claimed: ClaimedRun; host: DriverHost },
  signal: AbortSignal,
): Promise<void> {
  const { log, settings } = host.platform;
  log.warn("run.waits_for_key_service", { runId: claimed.runId, cause: reason, message });
  await pause(settings.leaseMs, undefined, { signal }).catch(() => {});
}

/** Checks what the run needs, starts its limits and opens its workspace. If a limit stops the run, returns that end instead of throwing. */
async function execute(context: RunContext, outerSignal: AbortSignal): Promise<RunEnd> {
  const { claimed, activeRun, allowance, host } = context;
  const { platform, workspaces } = host;
  if (claimed.claimsWithoutProgress >= maxClaimsWithoutProgress) throw new RunFault("internal", abandonedMessage);
  const { agent, requester, run } = activeRun;
  if (await isFormerUser(platform.db, { userId: requester.userId, since: run.createdAt }))
    throw new RunFault("user_removed", removedMessage);
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
    await limits.whenDiskMeasured;
    const logContext = { runId: claimed.runId, log: host.platform.log };
    if (claimed.status === "CREATING") await keepStart({ agentId, workspace, ...logContext }, host, limits.signal);
    // Files of a new run on a worker exist on this server alone until they are saved: a server that takes the run over
    // begins with the same commits.
    if (environment === null && claimed.status === "CREATING") await saveIfPossible(disk, logContext);
    const end = await driveInWorkspace(workspace, { ...context, environment, disk, warnings }, limits.signal);
    await saveIfPossible(disk, logContext);
    return end;
  } catch (error) {
    const reached = limits.reached();
    if (leavesRunOpen(error) || reached === null) throw error;
    return toRunEnd(reached);
  } finally {
    limits.release();
  }
}

/** Only readers of the changes need it: a run goes on without. */
async function keepStart(
  { log, ...run }: { agentId: string; runId: string; workspace: OpenWorkspace; log: Log },
  { handoff }: RunHost,
  signal: AbortSignal,
): Promise<void> {
  await handoff.begin(run, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    log.error("files at the start of the run not kept", error, { runId: run.runId });
  });
}

function assertModelsPriced({ activeRun: { agent }, plan, host }: RunContext): void {
  const models = [{ id: plan.selectedModel.id }, ...modelsOfSubagents(agent.private.customSubagents)];
  const model = findUnpriced(models, host.platform.settings);
  if (model !== null) throw new RunFault("invalid_model", priceUnknown(model));
}

const removedMessage =
  "The user who asked for this run is not in the team any more, so it did not go on. Send the prompt again as another member.";

const abandonedMessage = `The run was stopped: ${maxClaimsWithoutProgress} times in a row, the server that had taken it over stopped before it made progress. Try splitting the task; if it happens again, ask an administrator to check the server log.`;

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
  // Gives commands of the agent identity tokens (OIDC), metadata and credentials of its cloud role.
  const socketOwner = { id, name, directory, environmentId: environment.environment?.id ?? null };
  const awsCredentials = credentialsOfRun(context, socketOwner.environmentId);
  const serving = { settings: host.platform.settings, serve: host.serveIdentity, awsCredentials };
  const socket = await openRunSocket(serving, socketOwner);
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
