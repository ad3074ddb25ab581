// `GET /v1/usage` by tag, repository and automation: what is sealed in agents, for those who may read them.
import type { Spending } from "@agentcli/protocol/api";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { saveAccount } from "../../src/repositories/accounts/store.ts";
import { agentNameAad, privateSettingsAad } from "../../src/runs/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { githubSettings } from "../repositories/github-settings.ts";

let fake: FakeGithub;
let server: TestServer;
let keys: { admin: string; ada: string; bob: string };

beforeAll(async () => {
  fake = await startGithub();
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  server = await testServer({
    roles: ["api"],
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: { blocked: [], protected: [], github: { ...(await githubSettings(fake)), client } },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  });
  const user = (email: string) => server.key({ owner: { kind: "user", email } });
  keys = { admin: await server.key(), ada: await user("ada@x"), bob: await user("bob@x") };
  await fake.addRepository("acme/shop", { collaborators: ["ada", "bob"] });
  await fake.addRepository("acme/site", { collaborators: ["ada"] });
  await connect("ada", null);
  const { db, vault } = server.platform;
  await openAdministration(db, vault).changeTeam("default", { followUps: "all" });
});
afterAll(async () => {
  await server.close();
  await fake.close();
});
beforeEach(async () => {
  await server.platform.db.deleteFrom("agents").execute();
  await server.platform.db.deleteFrom("deleted_runs").execute();
});

type Person = keyof typeof keys;

/** Connects an account that sees these repositories, or all; answers about the former one are no longer used. */
async function connect(login: "ada" | "bob", repositories: string[] | null): Promise<void> {
  const { db, vault } = server.platform;
  const { id } = await db.selectFrom("users").select("id").where("email", "=", `${login}@x`).executeTakeFirstOrThrow();
  const token = fake.addToken(login);
  const grant = fake.grants.find((one) => one.token === token) ?? expect.fail("no grant");
  grant.repositories = repositories;
  const accountId = `${login}-${fake.grants.length}`;
  const tokens = { token, expiresAt: null, refreshToken: null };
  await saveAccount({ db, vault }, { userId: id, host: new URL(fake.url).host, accountId, login, tokens });
}

interface Work {
  usd: string | null;
  metadata?: Record<string, string>;
  repositories?: string[];
  daysAgo?: number;
}

async function spend(who: Person, { usd, metadata, repositories = [], daysAgo = 0 }: Work): Promise<string> {
  const repos = repositories.map((name) => ({ url: `${fake.url}/${name}` }));
  const asked = { prompt: { text: "work" }, repos, ...(metadata && { metadata }) };
  const { status, body } = await server.call(keys[who], "POST", "/v1/agents", asked);
  expect({ status, body }).toMatchObject({ status: 200 });
  const { id } = (body as { agent: { id: string } }).agent;
  await charge({ agentId: id, usd, daysAgo });
  return id;
}

/** All runs of the agent end and cost that. */
async function charge({ agentId, usd, daysAgo = 0 }: { agentId: string; usd: string | null; daysAgo?: number }) {
  const at = new Date(Date.now() - daysAgo * 86_400_000);
  const used = { cost_usd: usd, input_tokens: 10, created_at: at, ended_at: at, status: "FINISHED" } as const;
  const runs = server.platform.db.updateTable("runs").set(used).where("agent_id", "=", agentId);
  await runs.where("ended_at", "is", null).execute();
}

async function usage(who: Person, query = "of=team&days=7"): Promise<Spending> {
  const { status, body } = await server.call(keys[who], "GET", `/v1/usage?${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Spending;
}

const tagsOf = ({ tags }: Spending) => tags.map(({ key, value, costCents }) => [key, value, costCents]);
const entriesOf = (entries: Spending["agents"]) => entries.map(({ name, costCents }) => [name, costCents]);

test("the cost of an agent counts for each of its tags, and that of one without tags for none", async () => {
  await spend("ada", { usd: "4", metadata: { team: "pay", ticket: "P-1" } });
  await spend("bob", { usd: "2", metadata: { team: "pay", ticket: "P-2" } });
  await spend("ada", { usd: "1", metadata: { team: "ops" } });
  await spend("ada", { usd: "0.5", metadata: { team: "old" }, daysAgo: 7 });
  await spend("bob", { usd: "0.25" });
  const all = await usage("admin");
  expect(tagsOf(all)).toEqual([
    ["team", "pay", 600],
    ["ticket", "P-1", 400],
    ["ticket", "P-2", 200],
    ["team", "ops", 100],
  ]);
  expect(all.tags[0]).toEqual({
    key: "team",
    value: "pay",
    runs: 2,
    calls: 0,
    tokens: 20,
    costCents: 600,
    unpriced: 0,
  });
  expect(all.untagged).toEqual({ runs: 1, calls: 0, tokens: 10, costCents: 25, unpriced: 0 });
  expect([all.otherTags, all.uncounted.runs, all.total.costCents]).toEqual([0, 0, 725]);
  expect(tagsOf(await usage("admin", "of=team&days=8"))).toContainEqual(["team", "old", 50]);
});

test("a run without a known price and a model call of a program outside count as what they are", async () => {
  await spend("ada", { usd: null, metadata: { team: "pay" } });
  const { db } = server.platform;
  const { id, team_id } = await db.selectFrom("users").select(["id", "team_id"]).executeTakeFirstOrThrow();
  const call = { id: "resp_1", team_id, user_id: id, service_account_id: null, model: "m", cost_usd: "0.1" };
  await db
    .insertInto("inference_calls")
    .values({ ...call, status: "completed", ended_at: new Date() })
    .execute();
  const { tags, untagged } = await usage("admin");
  await db.deleteFrom("inference_calls").execute();
  expect(tags).toEqual([{ key: "team", value: "pay", runs: 1, calls: 0, tokens: 10, costCents: 0, unpriced: 1 }]);
  expect(untagged).toEqual({ runs: 0, calls: 1, tokens: 0, costCents: 10, unpriced: 0 });
});

test("what a deleted agent cost stays in all sums and counts against the limits, but for no tag or repository", async () => {
  const { db } = server.platform;
  await spend("ada", { usd: "2", metadata: { team: "pay" } });
  const gone = await spend("ada", { usd: "3", metadata: { team: "pay" }, repositories: ["acme/shop"] });
  expect(tagsOf(await usage("admin"))).toEqual([["team", "pay", 500]]);
  await db.updateTable("users").set({ spend_limit_usd: "4" }).where("email", "=", "ada@x").execute();
  expect((await server.call(keys.ada, "DELETE", `/v1/agents/${gone}`)).status).toBe(200);
  const { total, people, days, agents, tags, repositories, untagged, limits } = await usage("ada", "of=me");
  expect([total, people[0], days.at(-1)]).toMatchObject(Array(3).fill({ runs: 2, tokens: 20, costCents: 500 }));
  expect([agents.length, tags.length, tags[0]?.costCents, repositories]).toEqual([1, 1, 200, []]);
  expect(untagged).toEqual({ runs: 1, calls: 0, tokens: 10, costCents: 300, unpriced: 0 });
  expect(limits).toEqual([{ of: "user", limitCents: 400, spentCents: 500 }]);
  const refused = await server.call(keys.ada, "POST", "/v1/agents", { prompt: { text: "more" } });
  await db.updateTable("users").set({ spend_limit_usd: null }).where("email", "=", "ada@x").execute();
  expect(refused).toMatchObject({ status: 403, body: { error: { code: "spend_limit_reached" } } });
  const kept = JSON.stringify(await db.selectFrom("deleted_runs").selectAll().execute());
  expect([kept.includes(gone), kept.includes("pay")]).toEqual([false, false]);
});

test("an agent counts for each of its repositories, and those of an automation for it instead of for tags", async () => {
  await spend("ada", { usd: "3", repositories: ["acme/shop", "acme/site"] });
  await spend("ada", { usd: "1", repositories: ["acme/shop"] });
  const asked = { name: "Nightly", scope: "private", prompt: { text: "look" }, triggers: [{ type: "webhook" }] };
  const created = await server.call(keys.ada, "POST", "/v1/automations", asked);
  expect(created).toMatchObject({ status: 201 });
  const { id } = created.body as { id: string };
  for (let count = 0; count < 2; count += 1)
    expect(await server.call(keys.ada, "POST", `/v1/automations/${id}/run`)).toMatchObject({ status: 200 });
  const started = await server.platform.db
    .selectFrom("agents")
    .select("id")
    .where("source", "=", "AUTOMATION")
    .execute();
  for (const agent of started) await charge({ agentId: agent.id, usd: "2" });
  const { repositories, automations, tags, untagged } = await usage("admin");
  expect(entriesOf(repositories)).toEqual([
    [`${fake.url}/acme/shop`, 400],
    [`${fake.url}/acme/site`, 300],
  ]);
  expect(automations).toMatchObject([{ id, name: "Nightly", runs: 2, costCents: 400 }]);
  expect([tags, untagged.costCents]).toEqual([[], 800]);
});

test("a caller who may not read an agent any more sees neither its tags nor its name, but what their runs of it cost", async () => {
  await connect("bob", ["shop"]);
  const metadata = { project: "merger" };
  const secret = await spend("ada", { usd: "4", metadata, repositories: ["acme/shop"] });
  const followUp = { prompt: { text: "more" } };
  expect(await server.call(keys.bob, "POST", `/v1/agents/${secret}/runs`, followUp)).toMatchObject({ status: 200 });
  await charge({ agentId: secret, usd: "1" });
  await spend("bob", { usd: "2", metadata: { project: "own" } });
  const before = await usage("bob", "of=me");
  expect(tagsOf(before)).toEqual([
    ["project", "own", 200],
    ["project", "merger", 100],
  ]);
  expect([entriesOf(before.repositories), before.uncounted.runs]).toEqual([[[`${fake.url}/acme/shop`, 100]], 0]);
  await connect("bob", []);
  const after = await usage("bob", "of=me");
  expect([tagsOf(after), after.repositories]).toEqual([[["project", "own", 200]], []]);
  expect(after.uncounted).toEqual({ runs: 1, calls: 0, tokens: 10, costCents: 100, unpriced: 0 });
  expect(entriesOf(after.agents)).toEqual([
    ["work", 200],
    [secret, 100],
  ]);
  expect(JSON.stringify(after)).not.toContain("merger");
  expect(tagsOf(await usage("ada", "of=me"))).toEqual([["project", "merger", 400]]);
  expect(tagsOf(await usage("admin"))).toContainEqual(["project", "merger", 500]);
  expect(await server.call(keys.bob, "GET", "/v1/usage?of=team")).toMatchObject({ status: 403 });
});

test("the 50 tags that cost most are listed and the others counted, of the 500 agents that cost most", async () => {
  const many = (prefix: string) => Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${prefix}${at}`, "x"]));
  await spend("ada", { usd: "400", metadata: many("high") });
  const low = await spend("ada", { usd: "300", metadata: { ...many("low"), low0: "y" } });
  const first = await usage("admin");
  expect([first.tags.length, first.otherTags, first.uncounted.runs]).toEqual([50, 50, 0]);
  expect(first.tags.every(({ key }) => key.startsWith("high"))).toBe(true);
  await copyAgents(low, 499);
  const all = await usage("admin");
  expect(all.uncounted).toEqual({ runs: 1, calls: 0, tokens: 10, costCents: 100, unpriced: 0 });
  expect(all.tags[0]).toMatchObject({ key: "copied", value: "yes", runs: 498, costCents: 49_800 });
});

/** So many agents with runs of a dollar each, as if they had been created one after the other. */
async function copyAgents(from: string, count: number): Promise<void> {
  const { db, vault } = server.platform;
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", from).executeTakeFirstOrThrow();
  const run = await db.selectFrom("runs").selectAll().where("agent_id", "=", from).executeTakeFirstOrThrow();
  const hidden = JSON.stringify({ envVars: {}, mcpServers: [], customSubagents: [], metadata: { copied: "yes" } });
  for (let at = 0; at < count; at += 1) {
    const id = `bc-00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
    const { wrapped, key } = await vault.newDataKey();
    const sealed = {
      name: key.seal("copy", agentNameAad(id)),
      private_settings: key.seal(hidden, privateSettingsAad(id)),
    };
    const settings = JSON.stringify(agent.settings);
    await db
      .insertInto("agents")
      .values({ ...agent, id, directory: id, data_key: wrapped, settings, ...sealed })
      .execute();
    await db
      .insertInto("runs")
      .values({ ...run, id: `run-${id.slice(3)}`, agent_id: id, cost_usd: "1" })
      .execute();
  }
}
