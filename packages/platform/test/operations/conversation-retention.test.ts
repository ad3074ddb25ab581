// Retention of conversations: agents that were not used for 90 days go with everything they own, where their team says so.
import { readdirSync } from "node:fs";
import { eventually } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { rulesOf } from "./retention-rules.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api", "runner"] });
});
beforeEach(async () => {
  key = await server.key();
});
afterAll(() => server.close());

/** One that has written a file and an artifact, and was last used so many days ago. */
async function newAgent(owner: string, text: string, days: number): Promise<string> {
  const { body } = await server.call(owner, "POST", "/v1/agents", { prompt: { text } });
  const { id } = (body as { agent: { id: string } }).agent;
  await eventually(async () => expect(await statusOf(owner, id)).toBe("IDLE"));
  const { db } = server.platform;
  const at = new Date(Date.now() - days * 86_400_000);
  await db.updateTable("runs").set({ created_at: at, ended_at: at }).where("agent_id", "=", id).execute();
  await db.updateTable("agents").set({ created_at: at, updated_at: at }).where("id", "=", id).execute();
  return id;
}

async function statusOf(owner: string, id: string): Promise<unknown> {
  const { status, body } = await server.call(owner, "GET", `/v1/agents/${id}`);
  return status === 200 ? (body as { status: string }).status : status;
}

async function applyRule(): Promise<number> {
  const { db, settings } = server.platform;
  let removed = 0;
  for (const rule of rulesOf({ db, dataDirectory: settings.dataDirectory, hoursLater: 0 }))
    if (rule.name === "agents") for await (const count of rule.remove()) removed += count;
  return removed;
}

const keepFor = async (owner: string, retention: string) =>
  (await server.call(owner, "PATCH", "/v1/team/settings", { retention })).status;

const directoryOf = async (id: string): Promise<string> => {
  const { db } = server.platform;
  return (await db.selectFrom("agents").select("directory").where("id", "=", id).executeTakeFirstOrThrow()).directory;
};

const filesOf = (directory: string): string[] =>
  readdirSync(server.platform.settings.dataDirectory, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.includes(directory) && !path.startsWith("postgres"),
  );

/** The tables that know the id. */
async function tablesWith(id: string): Promise<string[]> {
  const { db } = server.platform;
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
  `.execute(db);
  const found: string[] = [];
  for (const { name } of rows) {
    const table = sql.table(name);
    const hits = await sql`select from ${table} as row where row::text like ${`%${id}%`} limit 1`.execute(db);
    if (hits.rows.length > 0) found.push(name);
  }
  return found.sort();
}

test("an agent that was not used for 90 days goes with its key, conversation and files; others stay", async () => {
  const other = await server.key({ team: "other" });
  const text = "create said.txt containing quokka";
  const old = await newAgent(key, text, 91);
  const lately = await newAgent(key, text, 89);
  const running = await newAgent(key, text, 91);
  const foreign = await newAgent(other, text, 91);
  const { db } = server.platform;
  const active = { status: "RUNNING", ended_at: null } as const;
  await db.updateTable("runs").set(active).where("agent_id", "=", running).execute();
  const directory = await directoryOf(old);
  expect(filesOf(directory).some((path) => path.endsWith("said.txt"))).toBe(true);
  expect(await tablesWith(old)).toEqual(expect.arrayContaining(["agents", "runs", "thread_records", "threads"]));
  expect(await applyRule()).toBe(0);

  expect(await keepFor(key, "90_days")).toBe(200);
  expect(await applyRule()).toBe(1);
  const left = await db.selectFrom("agents").select(["id", "data_key"]).orderBy("created_at").execute();
  expect(left.map(({ id }) => id).sort()).toEqual([lately, running, foreign].sort());
  expect(await statusOf(key, old)).toBe(404);
  expect(await tablesWith(old)).toEqual(["audit_entries"]);
  expect(filesOf(directory)).toEqual([]);
  for (const [owner, id] of [
    [key, lately],
    [other, foreign],
  ] as const) {
    expect(await statusOf(owner, id)).toBe("IDLE");
    expect(filesOf(await directoryOf(id)).some((path) => path.endsWith("said.txt"))).toBe(true);
    expect((await server.call(owner, "GET", `/v1/agents/${id}/conversation`)).body).toMatchObject({
      messages: expect.arrayContaining([expect.objectContaining({ text })]),
    });
  }

  const entries = (await db.selectFrom("audit_entries").select("entry").orderBy("seq").execute()).map(
    ({ entry }) => entry,
  );
  const deletions = entries.filter((entry) => entry.includes(old) && entry.includes("agent.deleted"));
  expect(deletions.map((entry) => JSON.parse(entry))).toMatchObject([{ actor: "platform", subject: old }]);
  expect(entries.join("\n")).not.toContain("quokka");
  await db
    .updateTable("runs")
    .set({ status: "FINISHED", ended_at: new Date() })
    .where("agent_id", "=", running)
    .execute();
});

test("an agent that is used while it is due stays; so do all once the team keeps them indefinitely", async () => {
  const agent = await newAgent(key, "create said.txt containing quokka", 91);
  expect(await keepFor(key, "90_days")).toBe(200);
  const { db } = server.platform;
  const waits = sql`select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`;
  let removal = Promise.resolve(-1);
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom("agents").select("id").where("id", "=", agent).forUpdate().execute();
    removal = applyRule();
    await expect.poll(async () => (await waits.execute(db)).rows.length).toBe(1);
    await tx.updateTable("agents").set({ updated_at: new Date() }).where("id", "=", agent).execute();
  });
  expect(await removal).toBe(0);
  expect(await statusOf(key, agent)).toBe("IDLE");
  await db
    .updateTable("agents")
    .set({ updated_at: new Date(0) })
    .where("id", "=", agent)
    .execute();
  expect(await keepFor(key, "indefinite")).toBe(200);
  expect(await applyRule()).toBe(0);
  expect(await keepFor(key, "30_days")).toBe(400);
  expect(await statusOf(key, agent)).toBe("IDLE");
});
