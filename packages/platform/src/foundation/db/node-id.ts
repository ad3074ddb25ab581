// Which of the servers of a database this one is. A restarted server gets the id of its former life.
import { randomUUID } from "node:crypto";
import type { PlatformRole } from "@agentcli/protocol";
import { sql } from "kysely";
import type pg from "pg";
import type { Log } from "../telemetry/index.ts";
import { type Connection, openClient } from "./connect.ts";
import { openReconnecting } from "./reconnecting-connection.ts";
import type { Queries } from "./tables/index.ts";

/** Advisory locks have two numbers; this one means node ids. */
const lockSpace = 7420;

/**
 * An id belongs to the process that holds its lock, and a lock ends with the connection of its holder: so an id that is free
 * belongs to a server that is gone.
 */
export async function claimNodeId(connection: Connection, log: Log): Promise<{ id: string; release(): Promise<void> }> {
  let id: string | null = null;
  const reconnecting = await openReconnecting({
    purpose: "node",
    log,
    connect: () => openClient(connection),
    async prepare(client) {
      id = id === null ? await claimAny(client) : await claimAgain(client, id, log);
    },
    beat: (client) => client.query("update nodes set heartbeat_at = now() where id = $1", [id]),
    onReturn() {},
  });
  if (id === null) throw new Error("a kept connection was not prepared");
  return { id, release: reconnecting.close };
}

async function claimAny(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select id from nodes order by heartbeat_at desc");
  for (const { id } of rows) if (await tryLock(client, id)) return write(client, id);
  const id = randomUUID();
  await tryLock(client, id);
  return write(client, id);
}

/** Where another server has started in between and taken it, both go on: leases are fenced by their epochs, not by ids. */
async function claimAgain(client: pg.Client, id: string, log: Log): Promise<string> {
  if (!(await tryLock(client, id))) log.warn("node.id_taken", { nodeId: id });
  // The same life: what this server started goes on, and is known by when that was.
  await client.query("update nodes set heartbeat_at = now() where id = $1", [id]);
  return id;
}

async function tryLock(client: pg.Client, id: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>("select pg_try_advisory_lock($1, hashtext($2)) as held", [
    lockSpace,
    id,
  ]);
  return rows[0]?.held ?? false;
}

async function write(client: pg.Client, id: string): Promise<string> {
  await client.query(
    "insert into nodes (id, heartbeat_at) values ($1, now()) on conflict (id) do update set heartbeat_at = now(), started_at = now(), address = null",
    [id],
  );
  return id;
}

/** Of this database, on whatever machine. */
export const countRunningServers = async (db: Queries): Promise<number> =>
  (await listNodes(db)).filter(({ isRunning }) => isRunning).length;

/** Also of a version whose tables are others. */
export async function hasRunningServer(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_locks where locktype = 'advisory' and classid = $1::oid and granted
       and database = (select oid from pg_database where datname = current_database()) limit 1`,
    [lockSpace],
  );
  return rowCount !== 0;
}

export interface NodeEntry {
  id: string;
  roles: PlatformRole[];
  version: string | null;
  /** Where other servers reach it; null: not known yet, or of a version that did not write it. */
  address: string | null;
  /** Whether a process holds its lock. */
  isRunning: boolean;
  startedAt: Date;
  heartbeatAt: Date;
}

/** The last to be heard of first. */
export async function listNodes(db: Queries): Promise<NodeEntry[]> {
  const { rows } = await sql<NodeEntry>`
    select id, roles, version, address, started_at as "startedAt", heartbeat_at as "heartbeatAt", exists (
      select from pg_locks where locktype = 'advisory' and classid = ${lockSpace}::oid and granted
        and objid::bigint = (hashtext(nodes.id)::bigint & 4294967295)
        and database = (select oid from pg_database where datname = current_database())
    ) as "isRunning"
    from nodes order by heartbeat_at desc, id`.execute(db);
  return rows;
}

export async function describeNode(
  db: Queries,
  id: string,
  { roles, version, address }: { roles: PlatformRole[]; version: string; address: string },
): Promise<void> {
  await sql`
    update nodes set roles = ${roles}::text[], version = ${version}, address = ${address} where id = ${id}
  `.execute(db);
}
