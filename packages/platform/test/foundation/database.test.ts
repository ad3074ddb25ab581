// Queries, migrations, notifications and node ids on a real server.
import { eventually } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actingAs, actingForRequest } from "../../src/foundation/db/actor.ts";
import { openQueries } from "../../src/foundation/db/connect.ts";
import { claimNodeId, notify, openNotifications, prepared } from "../../src/foundation/db/index.ts";
import { migrate, migrationNames, pendingMigrations, unusedMigrationNumbers } from "../../src/foundation/db/migrate.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { verifyLog, withStoredLog } from "../../src/identity/audit/index.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../harness/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.close());

const dataKey = Buffer.from("wrapped");

test("bigint is read as a number and numeric as text", async () => {
  const { rows } = await sql`select 9007199254740991::bigint as large, count(*) as counted, 0.1::numeric as price
    from (values (1), (2)) as two`.execute(database.db);
  expect(rows).toEqual([{ large: 9007199254740991, counted: 2, price: "0.1" }]);
});

test("a bigint beyond the safe integers is an error, not a wrong number", async () => {
  await expect(sql`select 9007199254740993::bigint`.execute(database.db)).rejects.toThrow("9007199254740993");
});

test("rows have the declared types", async () => {
  const team = { name: "declared", follow_ups: "all" as const, data_key: dataKey, spend_limit_usd: "12.50" };
  const row = await database.db.insertInto("teams").values(team).returningAll().executeTakeFirstOrThrow();
  expect(row).toEqual({ ...team, id: expect.any(Number), created_at: expect.any(Date) });
});

test("a connection goes to the actor that it is set for, and to another only after it was set for that one", async () => {
  const db = openQueries(database.connection, 4, () => {});
  const look = async () => {
    const asked = sql<{ pid: number; actor: string; limit: string }>`select pg_backend_pid() as pid,
      coalesce(current_setting('platform.actor', true), '') as actor, current_setting('statement_timeout') as limit`;
    return (await asked.execute(db)).rows[0];
  };
  const asUser = () => actingAs("user:1", look);
  const asRequest = () => actingForRequest(5_000, look);
  const [platform, user, request] = await Promise.all([look(), asUser(), asRequest()]);
  expect(user).toMatchObject({ actor: "user:1", limit: "0" });
  expect(request).toMatchObject({ actor: "anonymous", limit: "5s" });
  for (let round = 0; round < 3; round += 1) {
    expect(await asUser()).toEqual(user);
    expect(await look()).toEqual(platform);
    expect(await asRequest()).toEqual(request);
  }
  const others = await Promise.all([1, 2, 3, 4].map(() => actingAs("user:2", look)));
  expect(others.map((one) => one?.actor)).toEqual(Array(4).fill("user:2"));
  expect((await look())?.actor).toBe("platform");
  await db.destroy();
});

test("an actor that no connection is set for takes the one that was used least lately", async () => {
  const db = openQueries(database.connection, 2, () => {});
  const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;
  const [user, platform] = await Promise.all([actingAs("user:1", pid), pid()]);
  // Used last, and needed again at once.
  expect(await pid()).toBe(platform);
  expect(await actingAs("user:2", pid)).toBe(user);
  expect(await pid()).toBe(platform);
  await db.destroy();
});

test("a marked statement stays prepared on its connection, which is replaced when a column has another type", async () => {
  const db = openQueries(database.connection, 1, () => {});
  await sql`create table changing (id integer)`.execute(db);
  await sql`insert into changing values (1), (2)`.execute(db);
  const find = async (id: number) =>
    (await sql<{ id: number }>`${prepared} select id from changing where id = ${id}`.execute(db)).rows;
  for (let round = 0; round < 8; round += 1) expect(await find(1 + (round % 2))).toEqual([{ id: 1 + (round % 2) }]);
  const kept = await sql`select statement from pg_prepared_statements`.execute(db);
  expect(kept.rows).toEqual([{ statement: "/* prepared */ select id from changing where id = $1" }]);
  await sql`alter table changing add column more text`.execute(db);
  expect(await find(1)).toEqual([{ id: 1 }]);
  await sql`alter table changing alter column id type bigint`.execute(db);
  await expect(find(1)).rejects.toThrow("cached plan must not change result type");
  await eventually(async () => expect(await find(1)).toEqual([{ id: 1 }]));
  await sql`drop table changing`.execute(db);
  await db.destroy();
});

test("servers that start concurrently on an empty database migrate it once", async () => {
  const empty = await emptyDatabase();
  const servers = [1, 2, 3, 4].map(() => openQueries(empty.connection, 2, () => {}));
  const migrated = await Promise.all(servers.map((db) => migrate(db, empty.connection)));
  expect(migrated.filter((names) => names.length > 0)).toHaveLength(1);
  for (const db of servers) {
    expect(await pendingMigrations(db)).toEqual([]);
    await db.destroy();
  }
  await empty.close();
});

test("each migration has a number of its own, and each number that is missing is explained", () => {
  const numbers = migrationNames().map((name) => Number(name.slice(0, 4)));
  const all = [...numbers, ...unusedMigrationNumbers].sort((left, right) => left - right);
  expect(all).toEqual(Array.from({ length: all.length }, (_, index) => index + 1));
});

test("an older program refuses a database that a newer one has migrated", async () => {
  const other = await freshDatabase();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', 'now')`.execute(other.db);
  await expect(migrate(other.db, other.connection)).rejects.toThrow(/newer platform \(9999-from-the-future\)/);
  await other.close();
});

test("the migration to unique addresses renames duplicates that differ only in case", async () => {
  const former = await emptyDatabase();
  const { db, connection } = former;
  await migrate(db, connection, "0009-claims");
  await sql`insert into teams (name, data_key) values ('red', '')`.execute(db);
  await sql`insert into users (team_id, email, role, removed_at) values
    (1, 'Ada@example.com', 'member', now()), (1, 'ada@example.com', 'admin', null),
    (1, 'ADA@example.com', 'member', null), (1, 'bob@example.com', 'member', null)`.execute(db);
  await migrate(db, connection);
  const users = await db.selectFrom("users").select("email").orderBy("id").execute();
  expect(users.map(({ email }) => email)).toEqual([
    "Ada@example.com.user-1.invalid",
    "ada@example.com",
    "ADA@example.com.user-3.invalid",
    "bob@example.com",
  ]);
  const another = sql`insert into users (team_id, email, role) values (1, 'BOB@example.com', 'member')`;
  await expect(another.execute(db)).rejects.toThrow("users_of_addresses");
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
  await former.close();
});

test("marks of an earlier version stay, and each mark is of one item", async () => {
  const former = await emptyDatabase();
  const { db, connection } = former;
  await migrate(db, connection, "0065-changed-lines");
  await sql`insert into teams (name, data_key) values ('red', '')`.execute(db);
  await sql`insert into users (team_id, email, role) values (1, 'ada@example.com', 'admin')`.execute(db);
  await sql`insert into agents (id, team_id, user_id, name, data_key, settings, private_settings, source, directory)
    values ('bc-1', 1, 1, '', '', '{}', '', 'API', 'bc-1')`.execute(db);
  await sql`insert into runs (id, agent_id, team_id, user_id, number, status, request)
    values ('run-1', 'bc-1', 1, 1, 1, 'FINISHED', '')`.execute(db);
  await sql`insert into inbox_marks (user_id, run_id, state) values (1, 'run-1', 'done')`.execute(db);
  await sql`insert into environments (id, team_id, name, repos, version_id)
    values (${environment}, 1, 'shop', '[]', ${environment})`.execute(db);
  await sql`insert into environment_versions (id, environment_id, number, kind, source, title, description, config)
    values (${environment}, ${environment}, 1, 'created', 'api', '', '', '')`.execute(db);
  await sql`insert into environment_builds (id, environment_id, version_id, status, trigger, draft, commits)
    values ('bld-1', ${environment}, ${environment}, 'SUCCEEDED', 'MANUAL', true, '[]')`.execute(db);
  await migrate(db, connection);
  expect(await db.selectFrom("inbox_marks").select(["run_id", "build_id", "state"]).execute()).toEqual([
    { run_id: "run-1", build_id: null, state: "done" },
  ]);
  const mark = (run: string | null, build: string | null) =>
    sql`insert into inbox_marks (user_id, run_id, build_id, state) values (1, ${run}, ${build}, 'read')`.execute(db);
  await mark(null, "bld-1");
  for (const [run, build] of [
    ["run-1", "bld-1"],
    [null, null],
    [null, "bld-1"],
  ] as const)
    await expect(mark(run, build)).rejects.toThrow(/inbox_marks_/);
  await sql`update environment_builds set discarded_at = now()`.execute(db);
  await sql`delete from environment_builds`.execute(db);
  expect(await db.selectFrom("inbox_marks").select("run_id").execute()).toEqual([{ run_id: "run-1" }]);
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
  await former.close();
});

const environment = "00000000-0000-4000-8000-000000000000";

test("agents of an earlier version keep their directories, and the audit log has no entry about it", async () => {
  const former = await emptyDatabase();
  const { db, connection } = former;
  await migrate(db, connection, "0011-identity-addresses");
  await sql`insert into teams (name, data_key) values ('red', '')`.execute(db);
  await sql`insert into agents (id, team_id, name, data_key, settings, private_settings, source)
    values ('bc-1', 1, '', '', '{}', '', 'API')`.execute(db);
  const head = await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow();
  await migrate(db, connection);
  expect(await db.selectFrom("agents").select("directory").execute()).toEqual([{ directory: "bc-1" }]);
  expect(await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).toEqual(head);
  await former.close();
});

test("a message reaches every listener, once its transaction commits", async () => {
  const notifications = await openNotifications(database.connection, silentLog);
  const received: string[] = [];
  const listener = { onMessage: (payload: string) => received.push(payload), onGap() {} };
  const leave = await notifications.subscribe("runs:1", listener);
  await notifications.subscribe("runs:1", { onMessage: (payload) => received.push(`also ${payload}`), onGap() {} });
  await database.db.transaction().execute(async (transaction) => {
    await notify(transaction, "runs:1", "committed");
    expect(received).toEqual([]);
  });
  await eventually(() => received.length === 2);
  leave();
  await notify(database.db, "runs:1", "later");
  await eventually(() => received.length === 3);
  expect(received).toEqual(["committed", "also committed", "also later"]);
  await notifications.close();
});

test("a listener receives messages again after its connection was lost, and is notified of the gap", async () => {
  const notifications = await openNotifications(database.connection, silentLog);
  const received: string[] = [];
  await notifications.subscribe("cut", {
    onMessage: (payload) => received.push(payload),
    onGap: () => received.push("gap"),
  });
  await cutListeners();
  await eventually(() => received.includes("gap"));
  await notify(database.db, "cut", "after");
  await eventually(() => received.includes("after"));
  expect(received).toEqual(["gap", "after"]);
  await notifications.close();
});

test("two servers have two node ids, and a restarted one keeps its id", async () => {
  const first = await claimNodeId(database.connection, silentLog);
  const second = await claimNodeId(database.connection, silentLog);
  expect(second.id).not.toBe(first.id);
  await first.release();
  const restarted = await claimNodeId(database.connection, silentLog);
  expect(restarted.id).toBe(first.id);
  await Promise.all([second.release(), restarted.release()]);
});

async function cutListeners(): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`.execute(database.db);
}

test("a connection lost during a transaction fails only that transaction", async () => {
  const transaction = database.db.transaction().execute(async (within) => {
    await sql`select 'in the middle'`.execute(within);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like '%in the middle%' and pid <> pg_backend_pid()`.execute(
      database.db,
    );
    await sql`select 1`.execute(within);
  });
  await expect(transaction).rejects.toThrow();
  expect((await sql`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }]);
});
