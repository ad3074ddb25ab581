// The worker of a run: the agent's files are brought there, and it is recorded on the run.
import { relative } from "node:path";
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { sql } from "kysely";
import type { RunEnvironments } from "../../environments/index.ts";
import { failureAad, type UsedWorker, type Workers } from "../../fleet/index.ts";
import type { PlatformContext } from "../../foundation/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import type { ClaimedRun } from "../leases/lease.ts";
import { agentPaths } from "./agent-paths.ts";
import type { RunPlan } from "./compose/index.ts";
import { newId } from "./ids.ts";
import type { MachinesInUse } from "./machines-in-use.ts";
import type { ActiveRun } from "./records.ts";
import { agentLimits } from "./sandbox/index.ts";
import { type CloningHost, findClonable } from "./worker-clones.ts";

export interface WorkerContext {
  claimed: Pick<ClaimedRun, "status">;
  activeRun: ActiveRun;
  plan: RunPlan;
  host: {
    platform: PlatformContext;
    workers: Workers;
    environments: RunEnvironments;
    machinesInUse: MachinesInUse;
    yieldRun(): Promise<void>;
  } & CloningHost;
}

/** The worker of a run, until the run leaves it. */
export interface RunWorker extends UsedWorker {
  /** For readers of the run. */
  warnings: string[];
  /** Its ports can be reached no more. */
  leave(): void;
}

export async function openRunWorker(
  workspace: OpenWorkspace,
  context: WorkerContext,
  signal: AbortSignal,
): Promise<RunWorker> {
  const { activeRun, plan, host, claimed } = context;
  const { settings } = host.platform;
  const { agent, run, fence, key } = activeRun;
  const { directory } = agentPaths(settings.dataDirectory, agent.directory);
  // Its operator has prepared the machine: of the environment, only the ports that people may look at are used.
  const reading = readPorts(workspace, context, signal);
  reading.catch(() => {});
  let leave = () => {};
  const worker = await host.workers.use({
    agentId: agent.id,
    runId: run.id,
    name: agent.directory,
    directory,
    root: relative(directory, workspace.root),
    writable: workspace.repositories.map(({ path }) => relative(directory, path)),
    variables: plan.variables,
    limits: agentLimits(settings),
    isResumed: claimed.status === "RUNNING",
    findClonable: () => findClonable(workspace, context, signal),
    newId,
    openFailure: (sealed) => (sealed === null ? "" : key.openText(sealed, failureAad(agent.id))),
    yieldRun: host.yieldRun,
    onOpened({ exec, dial }) {
      leave();
      leave = host.machinesInUse.add(agent.id, { config: { ports }, workspace: { exec }, dial });
    },
  });
  await sql`
    update runs set machine_provider = 'worker', machine_reason = ${worker.description}
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(host.platform.db);
  const warnings = await worker.prepare();
  const ports = await reading;
  return { ...worker, warnings, leave: () => leave() };
}

async function readPorts(
  workspace: OpenWorkspace,
  { activeRun: { agent }, host: { environments } }: WorkerContext,
  signal: AbortSignal,
): Promise<EnvironmentFile["ports"]> {
  const chosen = await environments.choose(agent, { location: "host", former: null });
  return (await environments.readConfig({ chosen, teamId: agent.teamId, workspace }, signal)).ports;
}
