// Removes the disks of machines whose agents are idle: after a long time, or because all disks together occupy too much. The
// repositories of an agent are not on that disk: what it has not pushed stays.
import { sizeBytes } from "@agentcli/host";
import { sql } from "kysely";
import { type PlatformContext, type Queries, type RetentionRule, readDataId } from "../foundation/index.ts";
import { noteRemovedDisk, reportMachines, setAgentMachineAside } from "../machines/index.ts";
import { forgetMachine } from "../runs/index.ts";
import { lockAgent } from "./store.ts";

type Context = Pick<PlatformContext, "db" | "settings">;

/** Of this server's host. */
export const machineRetention = (context: Context): RetentionRule => ({
  name: "disks of machines",
  in: "data directory",
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
  /** As the database writes it: it is compared only. */
  lastUsed: string;
  /** Nothing uses it. */
  isIdle: boolean;
}

const used = sql`cross join lateral (
  select coalesce(max(coalesce(ended_at, now())), agents.created_at) as last_used from runs where agent_id = agents.id
) as used`;

/** The least recently used first. Disks without an agent are those of builds. */
async function findIdle({ db, settings }: Context): Promise<AgentDisk[]> {
  const machines = await reportMachines(settings);
  const { rows } = await sql<{ id: string; directory: string; idleDays: number; lastUsed: string }>`
    select id, directory, (extract(epoch from now() - last_used) / 86400)::float8 as "idleDays",
      last_used::text as "lastUsed"
    from agents ${used}
    where directory = any(${machines.map(({ id }) => id)}) order by last_used, id
  `.execute(db);
  const found = new Map(machines.map((machine) => [machine.id, machine]));
  return rows.flatMap(({ id, directory, ...use }) => {
    const machine = found.get(directory);
    if (machine === undefined) return [];
    return { agentId: id, directory, ...use, diskBytes: machine.diskBytes, isIdle: machine.state === "stopped" };
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

/** False if the agent was used since it was listed. A run that begins later waits, and has a new machine. */
async function removeIdle({ db, settings }: Context, disk: AgentDisk, reason: string): Promise<boolean> {
  const { agentId, directory } = disk;
  const removeFiles = await db.transaction().execute(async (tx) => {
    await lockAgent(tx, agentId);
    const found = await readUse(tx, agentId);
    if (found === undefined || found.isActive || found.lastUsed !== disk.lastUsed) return null;
    // Of an agent that has gone on elsewhere this is an older disk: its next run has lost nothing.
    const isCurrent = found.dataId === null || found.dataId === readDataId(settings.dataDirectory);
    if (isCurrent) await forgetMachine(tx, agentId);
    const remove = await setAgentMachineAside(settings, directory);
    if (isCurrent) noteRemovedDisk(settings, directory, reason);
    return remove;
  });
  await removeFiles?.();
  return removeFiles !== null;
}

interface Use {
  lastUsed: string;
  isActive: boolean;
  /** The data directory that has the files of the agent; null before its first run. */
  dataId: string | null;
}

/** Undefined if the agent was deleted. */
async function readUse(db: Queries, agentId: string): Promise<Use | undefined> {
  const { rows } = await sql<Use>`
    select last_used::text as "lastUsed", data_id as "dataId",
      exists (select from runs where agent_id = agents.id and status in ('CREATING', 'RUNNING')) as "isActive"
    from agents ${used} left join agent_disks on agent_disks.agent_id = agents.id where agents.id = ${agentId}
  `.execute(db);
  return rows[0];
}
