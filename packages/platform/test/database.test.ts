// Queries, migrations, notifications and node ids on a real server.
import { eventually } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openQueries } from "../src/db/connect.ts";
import { claimNodeId, notify, openNotifications } from "../src/db/index.ts";
import { migrate, pendingMigrations } from "../src/db/migrate.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "./database.ts";

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

test("a bigint that no number can hold is an error and not a wrong number", async () => {
  await expect(sql`select 9007199254740993::bigint`.execute(database.db)).rejects.toThrow("9007199254740993");
});

test("rows are what the tables declare", async () => {
  const team = { name: "declared", follow_ups: "all" as const, data_key: dataKey, spend_limit_usd: "12.50" };
  const row = await database.db.insertInto("teams").values(team).returningAll().executeTakeFirstOrThrow();
  expect(row).toEqual({ ...team, id: expect.any(Number), created_at: expect.any(Date) });
});

test("servers that start at once on an empty database migrate it once", async () => {
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

test("an older program refuses a database that a newer one has migrated", async () => {
  const other = await freshDatabase();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', 'now')`.execute(other.db);
  await expect(migrate(other.db, other.connection)).rejects.toThrow(/newer platform \(9999-from-the-future\)/);
  await other.close();
});

test("a message reaches every listener, once its transaction commits", async () => {
  const notifications = await openNotifications(database.connection, silentLog);
  const heard: string[] = [];
  const listener = { onMessage: (payload: string) => heard.push(payload), onGap() {} };
  const leave = await notifications.subscribe("runs:1", listener);
  await notifications.subscribe("runs:1", { onMessage: (payload) => heard.push(`also ${payload}`), onGap() {} });
  await database.db.transaction().execute(async (transaction) => {
    await notify(transaction, "runs:1", "committed");
    expect(heard).toEqual([]);
  });
  await eventually(() => heard.length === 2);
  leave();
  await notify(database.db, "runs:1", "later");
  await eventually(() => heard.length === 3);
  expect(heard).toEqual(["committed", "also committed", "also later"]);
  await notifications.close();
});

test("a listener hears again after its connection was cut, and that something may be missing", async () => {
  const notifications = await openNotifications(database.connection, silentLog);
  const heard: string[] = [];
  await notifications.subscribe("cut", { onMessage: (payload) => heard.push(payload), onGap: () => heard.push("gap") });
  await cutListeners();
  await eventually(() => heard.includes("gap"));
  await notify(database.db, "cut", "after");
  await eventually(() => heard.includes("after"));
  expect(heard).toEqual(["gap", "after"]);
  await notifications.close();
});

test("two servers are two nodes, and a restarted one is the node it was", async () => {
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

test("a connection cut in the middle of a transaction fails the transaction and nothing else", async () => {
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
