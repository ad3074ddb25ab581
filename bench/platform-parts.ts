// Parts of the platform that its measurements use: frames are written as another server would write them.
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { clusterPaths, readPassword } from "../packages/platform/src/foundation/db/cluster-paths.ts";
import { type Connection, openClient, openQueries } from "../packages/platform/src/foundation/db/connect.ts";
import { notify } from "../packages/platform/src/foundation/db/notifications.ts";
import type { Tables } from "../packages/platform/src/foundation/db/tables/index.ts";
import { openVault } from "../packages/platform/src/foundation/vault/index.ts";
import { agentNameAad, privateSettingsAad } from "../packages/platform/src/runs/index.ts";
import { insertFrames, notifyReaders, numberFrames } from "../packages/platform/src/runs/streams/index.ts";

/** The database of a server that runs with this data directory. */
export const openRunning = (dataDirectory: string): Kysely<Tables> =>
  openQueries(connectionOf(dataDirectory), 4, () => {});

function connectionOf(dataDirectory: string): Connection {
  const paths = clusterPaths(dataDirectory, { variables: process.env });
  const { socketDirectory } = paths;
  return { socketDirectory, password: readPassword(paths), database: "platform" };
}

/** What PostgreSQL has counted of this database: transactions since its start, and connections that clients have now. */
export async function readActivity(db: Kysely<Tables>): Promise<{ transactions: number; connections: number }> {
  const { rows } = await sql<{ transactions: number; connections: number }>`
    select xact_commit::double precision + xact_rollback as transactions, (
      select count(*)::integer from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
    ) as connections from pg_stat_database where datname = current_database()
  `.execute(db);
  return rows[0] ?? { transactions: 0, connections: 0 };
}

export const sendNotice = (db: Kysely<Tables>, channel: string): Promise<void> => notify(db, channel, randomUUID());

/** Connections that listen, and count what they receive by channel. */
export async function openListeners(dataDirectory: string, { count, channels }: { count: number; channels: string[] }) {
  const received = new Map<string, number>();
  const clients = await Promise.all(
    Array.from({ length: count }, async () => {
      const client = await openClient(connectionOf(dataDirectory));
      client.on("notification", ({ channel }) => received.set(channel, (received.get(channel) ?? 0) + 1));
      for (const channel of channels) await client.query(`listen ${client.escapeIdentifier(channel)}`);
      return client;
    }),
  );
  return { received, close: () => Promise.all(clients.map((client) => client.end())) };
}

/** Writes frames of one run, and wakes its readers. */
export async function openFrameWriter(
  db: Kysely<Tables>,
  { kekFile, agentId, runId }: { kekFile: string; agentId: string; runId: string },
): Promise<(texts: string[]) => Promise<void>> {
  const vault = await openVault(db, { kekFile });
  const row = await db.selectFrom("agents").select("data_key").where("id", "=", agentId).executeTakeFirstOrThrow();
  const key = await vault.unwrap(row.data_key);
  let after = 0;
  return async (texts) => {
    const groups = texts.map((text) => [{ event: "assistant" as const, data: { text } }]);
    const frames = numberFrames(groups, { after, bornAt: new Date(0) });
    after += frames.length;
    await sql`
      with fence as (select id from runs where id = ${runId}), shown as (${insertFrames(key, runId, frames)})
      select (${notifyReaders(runId, frames)}) as told
    `.execute(db);
  };
}

/** Frames that no client reads, spread over all runs but one. */
export async function addStoredFrames(
  db: Kysely<Tables>,
  { count, except }: { count: number; except: string },
): Promise<void> {
  await sql`
    insert into frames (run_id, seq, event_id, event, data, at)
    select id, 100000 + seq, '1-' || seq, 'assistant', decode(repeat(md5(seq::text), 6), 'hex'), now()
    from (select id, count(*) over () as runs from runs where id <> ${except}) others,
      generate_series(1, (${count} / runs)::integer) as seq
  `.execute(db);
  await sql`analyze frames`.execute(db);
}

/** Builds of this environment that ended, like one that it has. */
export async function addBuilds(db: Kysely<Tables>, { like, count }: { like: string; count: number }): Promise<void> {
  await sql`
    insert into environment_builds (id, environment_id, version_id, status, trigger, draft, commits, started_at,
      completed_at, created_at)
    select former.id || '-' || number, environment_id, version_id, 'FAILED', trigger, draft, commits, started_at,
      completed_at, created_at - number * interval '1 hour'
    from (select * from environment_builds where environment_id = ${like} limit 1) former,
      generate_series(1, ${count}::integer) as number
  `.execute(db);
  await sql`analyze environment_builds`.execute(db);
}

export { claimBuild } from "../packages/platform/src/environments/builds/store.ts";
export { openLocalProvider, openMachineWorkspace } from "../packages/platform/src/machines/index.ts";
export { openLeases } from "../packages/platform/src/runs/leases/lease.ts";
export { makeDebianBase, shopConfig, shopFiles } from "../packages/testkit/src/shop/index.ts";

/** All that are active end now. */
export async function endRuns(db: Kysely<Tables>): Promise<void> {
  await sql`update runs set status = 'FINISHED', ended_at = now() where ended_at is null`.execute(db);
}

/** Agents like another one, created before it. */
export async function addAgents(
  db: Kysely<Tables>,
  { kekFile, like, count }: { kekFile: string; like: string; count: number },
): Promise<void> {
  const vault = await openVault(db, { kekFile });
  const { team_id, user_id, settings } = await db
    .selectFrom("agents")
    .selectAll()
    .where("id", "=", like)
    .executeTakeFirstOrThrow();
  for (let done = 0; done < count; done += agentsAtOnce) {
    const rows = await Promise.all(
      Array.from({ length: Math.min(agentsAtOnce, count - done) }, async () => {
        const id = `bc-${randomUUID()}`;
        const { key, wrapped } = await vault.newDataKey();
        const hidden = { envVars: {}, mcpServers: [], customSubagents: [], metadata: {} };
        const created_at = new Date(Date.now() - Math.random() * yearMs);
        return {
          ...{ id, directory: id, team_id, user_id, data_key: wrapped, source: "API", created_at },
          settings: JSON.stringify(settings),
          name: key.seal(`Agent ${id}`, agentNameAad(id)),
          private_settings: key.seal(JSON.stringify(hidden), privateSettingsAad(id)),
        };
      }),
    );
    await withoutTriggers(db, (tx) => tx.insertInto("agents").values(rows).execute());
  }
  await sql`analyze agents`.execute(db);
}

const agentsAtOnce = 500;
const yearMs = 365 * 86_400_000;
const framesPerRun = 500;

/** Ended runs of all agents but one, over a year, with their frames. */
export async function addYear(
  db: Kysely<Tables>,
  { frames, except }: { frames: number; except: string },
): Promise<void> {
  const runs = Math.ceil(frames / framesPerRun);
  await withoutTriggers(db, async (tx) => {
    await sql`
      insert into runs (id, agent_id, team_id, user_id, number, status, request, started_at, ended_at, created_at)
      select 'run-' || gen_random_uuid(), id, team_id, user_id, 1 + number, 'FINISHED', '\\x00', at, at, at
      from (
        select agents.*, number, now() - interval '2 days' - random() * interval '363 days' as at
        from agents, generate_series(1, 1 + ${runs}::integer / (select count(*) - 1 from agents)) as number
        where agents.id <> ${except}
      ) as planned limit ${runs}
    `.execute(tx);
    await sql`
      insert into frames (run_id, seq, event_id, event, data, at)
      select id, seq, '1-' || seq, 'assistant', decode(repeat(md5(seq::text), 6), 'hex'), ended_at
      from (select id, ended_at from runs where request = '\\x00' order by ended_at) as ended,
        generate_series(1, ${framesPerRun}::integer) as seq
    `.execute(tx);
  });
  await sql`vacuum analyze frames`.execute(db);
  await sql`vacuum analyze runs`.execute(db);
  await sql`checkpoint`.execute(db);
}

/** The audit log would take most of the time. */
const withoutTriggers = (db: Kysely<Tables>, work: (tx: Kysely<Tables>) => Promise<unknown>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await work(tx);
  });

/** Waits until further frames were removed; returns how many streams were removed so far, as frames. */
export async function untilRemoving(db: Kysely<Tables>): Promise<number> {
  const count = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from runs where stream_removed_at is not null
    `.execute(db);
    return (rows[0]?.count ?? 0) * framesPerRun;
  };
  const before = await count();
  for (;;) {
    const now = await count();
    if (now > before) return now;
    const left = db
      .selectFrom("runs")
      .select("id")
      .where("ended_at", "is not", null)
      .where("stream_removed_at", "is", null);
    if ((await left.limit(2).execute()).length < 2) throw new Error(tooFewFrames);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const tooFewFrames = "Everything was removed before the measurement ended. Set BENCH_YEAR_FRAMES higher.";

export interface IdleWork {
  /** Each look of a scheduler for what is due reads this index once. */
  looks: number;
  /** Of automations, by scans of whole tables. */
  rowsRead: number;
  transactions: number;
}

/** As the database has counted since its start. */
export async function countIdleWork(db: Kysely<Tables>): Promise<IdleWork> {
  const { rows } = await sql<Record<keyof IdleWork, string>>`
    select
      (select idx_scan from pg_stat_user_indexes where indexrelname = 'automation_firings_next') as looks,
      (
        select sum(seq_tup_read) from pg_stat_user_tables
        where relname in ('automations', 'automation_triggers', 'automation_firings')
      ) as "rowsRead",
      (select xact_commit from pg_stat_database where datname = current_database()) as transactions
  `.execute(db);
  const { looks = "0", rowsRead = "0", transactions = "0" } = rows[0] ?? {};
  return { looks: Number(looks), rowsRead: Number(rowsRead), transactions: Number(transactions) };
}
