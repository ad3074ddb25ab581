// Removes the disks of machines whose agents are idle: after a long time, or because all disks together occupy too much. The
// repositories of an agent are not on that disk: what it has not pushed stays.
import { sizeBytes } from "@agentcli/host";
import { sql } from "kysely";
import type { PlatformContext, RetentionRule } from "../foundation/index.ts";
import { noteRemovedDisk, removeAgentMachine, reportMachines } from "../machines/index.ts";
import { forgetMachine } from "../runs/index.ts";
import { lockAgent } from "./store.ts";

type Context = Pick<PlatformContext, "db" | "settings">;

/** Of this server's host. */
export const machineRetention = (context: Context): RetentionRule => ({
  name: "disks of machines",
  async *remove() {
    const { settings } = context;
    const budget = sizeBytes(settings.machines.diskBudget) ?? Number.POSITIVE_INFINITY;
    const disks = await findIdle(context);
    let occupied = disks.reduce((sum, { diskBytes }) => sum + diskBytes, 0);
    for (const disk of disks) {
      const reason = reasonFor(disk, { settings, isOver: occupied > budget });
      if (reason === null || !disk.isIdle || !(await removeIdle(context, disk, reason))) continue;
      occupied -= disk.diskBytes;
      yield 1;
    }
  },
});

interface AgentDisk {
  agentId: string;
  directory: string;
  diskBytes: number;
  idleDays: number;
  /** Nothing uses it. */
  isIdle: boolean;
}

/** The least recently used first. Disks without an agent are those of builds. */
async function findIdle({ db, settings }: Context): Promise<AgentDisk[]> {
  const machines = await reportMachines(settings);
  const { rows } = await sql<{ id: string; directory: string; idleDays: number }>`
    select id, directory, (extract(epoch from now() - last_used) / 86400)::float8 as "idleDays"
    from agents cross join lateral (
      select coalesce(max(coalesce(ended_at, now())), agents.created_at) as last_used from runs where agent_id = agents.id
    ) as used
    where directory = any(${machines.map(({ id }) => id)}) order by last_used, id
  `.execute(db);
  const found = new Map(machines.map((machine) => [machine.id, machine]));
  return rows.flatMap(({ id, directory, idleDays }) => {
    const machine = found.get(directory);
    if (machine === undefined) return [];
    return { agentId: id, directory, idleDays, diskBytes: machine.diskBytes, isIdle: machine.state === "stopped" };
  });
}

function reasonFor(
  { idleDays }: AgentDisk,
  { settings, isOver }: { settings: Context["settings"]; isOver: boolean },
): string | null {
  const { machineDays } = settings.retention;
  if (idleDays > machineDays) return `it was not used for ${machineDays} days (retention.machine_days)`;
  const { diskBudget } = settings.machines;
  return isOver ? `all disks together occupied more than ${diskBudget} (machines.disk_budget)` : null;
}

/** False if a run of the agent has begun. One that begins later waits, and has a new machine. */
async function removeIdle({ db, settings }: Context, { agentId, directory }: AgentDisk, reason: string) {
  return db.transaction().execute(async (tx) => {
    await lockAgent(tx, agentId);
    const active = tx.selectFrom("runs").select("id").where("agent_id", "=", agentId);
    if (await active.where("status", "in", ["CREATING", "RUNNING"]).executeTakeFirst()) return false;
    await forgetMachine(tx, agentId);
    await removeAgentMachine(settings, directory);
    noteRemovedDisk(settings, directory, reason);
    return true;
  });
}
