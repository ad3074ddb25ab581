// The machine of a run: chosen by the server that drives it, and recorded on the run.
import { type Kysely, sql } from "kysely";
import type { PlatformContext, Queries, Tables } from "../../foundation/index.ts";
import {
  type AgentMachines,
  type MachineChoice,
  MachineFault,
  MachineUnavailable,
  type MachineUse,
} from "../../machines/index.ts";
import { agentPaths } from "./agent-paths.ts";
import { RunFault } from "./fault.ts";
import type { ActiveRun } from "./records.ts";

export interface MachineContext {
  activeRun: ActiveRun;
  platform: PlatformContext;
  machines: AgentMachines;
}

/** Null: its commands run in sandboxes of the host itself. */
export async function openRunMachine(context: MachineContext): Promise<MachineUse | null> {
  const { activeRun, platform, machines } = context;
  const { db, settings } = platform;
  const choice = await chooseMachine(machines);
  await recordChoice(db, activeRun, choice);
  if (choice.provider === "host") return null;
  const { agent } = activeRun;
  const { directory } = agentPaths(settings.dataDirectory, agent.directory);
  const used = machines.use({
    name: agent.directory,
    directories: [directory, ...settings.readableDirectories],
    isKnown: await hasUsedMachine(db, agent.id),
  });
  return { ...used, disk: () => recorded(used, db, activeRun) };
}

async function chooseMachine(machines: AgentMachines): Promise<MachineChoice> {
  try {
    return await machines.choose();
  } catch (error) {
    if (!(error instanceof MachineUnavailable)) throw error;
    throw new RunFault("machine_unavailable", `${error.message} Or ask the operator to set machines.provider to auto.`);
  }
}

async function recordChoice(
  db: Kysely<Tables>,
  { fence }: ActiveRun,
  { provider, reason }: MachineChoice,
): Promise<void> {
  await sql`
    update runs set machine_provider = ${provider}, machine_reason = ${reason}
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

/** After a loss was reported, the agent begins with a new machine. */
async function recorded(used: MachineUse, db: Kysely<Tables>, { agent, fence }: ActiveRun) {
  try {
    const disk = await used.disk();
    await sql`
      update runs set machine_id = ${agent.directory}
      where id = ${fence.runId} and lease_epoch = ${fence.epoch} and machine_id is null
    `.execute(db);
    return disk;
  } catch (error) {
    if (error instanceof MachineFault) await forgetMachine(db, agent.id);
    throw error;
  }
}

/** Its next run begins with a new machine, and does not report the former one as lost. */
export async function forgetMachine(db: Queries, agentId: string): Promise<void> {
  await db.updateTable("runs").set({ machine_id: null }).where("agent_id", "=", agentId).execute();
}

async function hasUsedMachine(db: Kysely<Tables>, agentId: string): Promise<boolean> {
  const query = db.selectFrom("runs").select("id").where("agent_id", "=", agentId).where("machine_id", "is not", null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
