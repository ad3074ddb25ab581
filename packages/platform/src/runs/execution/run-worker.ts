// The worker of a run: the agent's files are brought there, and it is recorded on the run.
import { relative } from "node:path";
import { sql } from "kysely";
import { failureAad, type UsedWorker, type Workers } from "../../fleet/index.ts";
import type { PlatformContext } from "../../foundation/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import { agentPaths } from "./agent-paths.ts";
import type { RunPlan } from "./compose/index.ts";
import { newId } from "./ids.ts";
import type { ActiveRun } from "./records.ts";
import { agentLimits } from "./sandbox/index.ts";

export interface WorkerContext {
  activeRun: ActiveRun;
  plan: RunPlan;
  host: { platform: PlatformContext; workers: Workers; yieldRun(): Promise<void> };
}

export async function openRunWorker(workspace: OpenWorkspace, context: WorkerContext): Promise<UsedWorker> {
  const { activeRun, plan, host } = context;
  const { settings } = host.platform;
  const { agent, run, fence, key } = activeRun;
  const { directory } = agentPaths(settings.dataDirectory, agent.directory);
  const worker = await host.workers.use({
    agentId: agent.id,
    runId: run.id,
    name: agent.directory,
    directory,
    root: relative(directory, workspace.root),
    writable: workspace.repositories.map(({ path }) => relative(directory, path)),
    variables: plan.variables,
    limits: agentLimits(settings),
    newId,
    openFailure: (sealed) => (sealed === null ? "" : key.openText(sealed, failureAad(agent.id))),
    yieldRun: host.yieldRun,
  });
  await sql`
    update runs set machine_provider = 'worker', machine_reason = ${worker.description}
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(host.platform.db);
  await worker.prepare();
  return worker;
}
