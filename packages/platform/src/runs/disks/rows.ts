// Where the files of agents are: the data directory that has them, and what of them is in the object store.
import { StaleWriter } from "@agentcli/engine";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { listNodes, type PlatformContext, prepared, readDataId, type Tables } from "../../foundation/index.ts";

/** One claim of a run. */
export interface DiskFence {
  runId: string;
  epoch: number;
}

export interface DiskRow {
  /** Empty after a restore of a backup: no data directory has them. */
  dataId: string;
  /** For people. */
  nodeName: string;
  /** What was saved last; null: nothing, or too little to continue with. */
  saveId: string | null;
  /** Only servers of this data directory can continue, or with a save others, without the machine of the agent. */
  isBound: boolean;
}

/** Undefined before the first run of the agent. */
export async function readDisk(db: Kysely<Tables>, agentId: string): Promise<DiskRow | undefined> {
  const row = await db.selectFrom("agent_disks").selectAll().where("agent_id", "=", agentId).executeTakeFirst();
  return row && { dataId: row.data_id, nodeName: row.node_name, saveId: row.save_id, isBound: row.is_bound };
}

/**
 * Undefined before the first run of the agent: then the row is added. In a run that begins, that does not wait for the
 * disk: its first records do, before a command changes a file, and what was written earlier is on the disk with them.
 */
export async function readOrAddDisk(
  db: Kysely<Tables>,
  { agentId, fence, isResumed }: { agentId: string; fence: DiskFence; isResumed: boolean },
  { dataId, nodeName, isBound }: Omit<DiskRow, "saveId">,
): Promise<DiskRow | undefined> {
  const { rows } = await sql<Partial<DiskRow> & { isAdded: boolean }>`${prepared}
    with former as (
      select data_id, node_name, save_id, is_bound from agent_disks where agent_id = ${agentId}
    ), fence as (
      select agent_id from runs
      cross join set_config(
        'synchronous_commit', case when ${isResumed} then current_setting('synchronous_commit') else 'off' end, true
      )
      where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
        and not exists (select from former)
      for no key update of runs
    ), added as (
      insert into agent_disks (agent_id, data_id, node_name, is_bound)
      select agent_id, ${dataId}, ${nodeName}, ${isBound} from fence
      on conflict (agent_id) do nothing returning agent_id
    )
    select data_id as "dataId", node_name as "nodeName", save_id as "saveId", is_bound as "isBound",
      exists (select from added) as "isAdded"
    from (values (1)) as one left join former on true
  `.execute(db);
  const [row] = rows;
  if (row?.isAdded) return undefined;
  // Another driver may have added it meanwhile; without a row, it has claimed the run.
  const former = row?.dataId ? (row as DiskRow) : await readDisk(db, agentId);
  if (former === undefined) throw hasOtherDriver(agentId, fence);
  return former;
}

const hasOtherDriver = (agentId: string, { runId }: DiskFence): StaleWriter =>
  new StaleWriter(agentId, `run ${runId} has another driver`);

/** Throws StaleWriter if another driver claimed the run. */
export async function writeDisk(
  db: Kysely<Tables>,
  { agentId, fence }: { agentId: string; fence: DiskFence },
  { dataId, nodeName, saveId, isBound }: DiskRow,
): Promise<void> {
  const { rows } = await sql<{ agent_id: string }>`
    insert into agent_disks (agent_id, data_id, node_name, save_id, is_bound)
    select agent_id, ${dataId}, ${nodeName}, ${saveId}, ${isBound} from runs
      where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
      for no key update
    on conflict (agent_id) do update set data_id = excluded.data_id, node_name = excluded.node_name,
      save_id = excluded.save_id, is_bound = excluded.is_bound, updated_at = now()
    returning agent_id
  `.execute(db);
  if (rows.length === 0) throw hasOtherDriver(agentId, fence);
}

/** The next run of the agent begins with new files. */
export async function forgetDisk(db: Kysely<Tables>, agentId: string): Promise<void> {
  await db.deleteFrom("agent_disks").where("agent_id", "=", agentId).execute();
}

/** Says that a server of this data directory is there to take runs; to be repeated every minute. */
export async function reportDataDirectory(db: Kysely<Tables>, dataId: string, nodeId: string): Promise<void> {
  // A server that was started again may have the id of another one.
  await sql`
    with former as (update data_directories set node_id = null where node_id = ${nodeId} and id <> ${dataId})
    insert into data_directories (id, node_id) values (${dataId}, ${nodeId})
    on conflict (id) do update set seen_at = now(), node_id = excluded.node_id
  `.execute(db);
}

/** The server to ask about the files of an agent; null: this one has them, or none that runs has. */
export async function findDiskHolder(db: Kysely<Tables>, agentId: string, ownDataId: string): Promise<string | null> {
  const row = await db
    .selectFrom("agent_disks")
    .innerJoin("data_directories", "data_directories.id", "agent_disks.data_id")
    .select("data_directories.node_id")
    .where("agent_disks.agent_id", "=", agentId)
    .where("agent_disks.data_id", "<>", ownDataId)
    .executeTakeFirst();
  const nodeId = row?.node_id ?? null;
  const isThere = nodeId !== null && (await listNodes(db)).some(({ id, isRunning }) => isRunning && id === nodeId);
  return isThere ? nodeId : null;
}

/** How long a run waits for the server that has the files of its agent, since that server or its driver was last there. */
const maxWait = sql.raw("interval '15 minutes'");

/** A condition on `runs`: the files of the agent are not bound to another data directory, or no server of it came back. */
export const diskIsReachable = (dataId: string): RawBuilder<boolean> =>
  sql<boolean>`(
    runs.needs_worker or runs.cancel_requested_at is not null or not exists (
      select from agent_disks disk left join data_directories directory on directory.id = disk.data_id
      where disk.agent_id = runs.agent_id and disk.is_bound and disk.data_id <> ${dataId}
        and greatest(runs.created_at, runs.lease_until, directory.seen_at) > now() - ${maxWait}
    )
  )`;

/** Why a run waits for a server with another data directory, which has the files of its agent; null if it does not. */
export async function readDiskWait(
  { db, settings }: Pick<PlatformContext, "db" | "settings">,
  run: { agent_id: string; needs_worker: boolean; status: string; lease_until: Date | null },
): Promise<{ position: number; reason: string } | null> {
  const isDriven = run.lease_until !== null && run.lease_until > new Date();
  if (run.needs_worker || !["CREATING", "RUNNING"].includes(run.status) || isDriven) return null;
  const disk = await readDisk(db, run.agent_id);
  if (!disk?.isBound || disk.dataId === readDataId(settings.dataDirectory)) return null;
  return { position: 1, reason: `The files of this agent are on ${disk.nodeName}, which takes the run.` };
}
