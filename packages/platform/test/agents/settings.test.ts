// Settings of a team and of a user: who changes them, what they do, and what the audit log says.
import type { TeamSettings } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let admin: string;
let member: string;
let account: string;

beforeAll(async () => {
  server = await testServer({ roles: ["api"], models: { model: "gpt-5", models: ["small", "large"] } });
  admin = await server.key({ owner: { kind: "user", email: "ada@example.com" } });
  member = await server.key({ owner: { kind: "user", email: "bob@example.com" } });
  account = await server.key({ name: "bot", owner: { kind: "service_account", name: "bot" } });
});
afterAll(() => server.close());

const read = async (key: string, whose: "me" | "team") => (await server.call(key, "GET", `/v1/${whose}/settings`)).body;
const change = (key: string, whose: "me" | "team", body: unknown) =>
  server.call(key, "PATCH", `/v1/${whose}/settings`, body);

/** The model of an agent that names none. */
async function modelOfNewAgent(key: string): Promise<string | undefined> {
  const { body } = await server.call(key, "POST", "/v1/agents", { prompt: { text: "do it" } });
  const { id } = (body as { agent: { id: string } }).agent;
  const { db } = server.platform;
  const { settings } = await db.selectFrom("agents").select("settings").where("id", "=", id).executeTakeFirstOrThrow();
  return settings.model?.id;
}

test("the default model is the user's, else the team's, else the server's", async () => {
  const none = { defaultModel: null, allowedModels: null, egress: null, autofix: null, newAgent: null };
  expect(await read(member, "team")).toEqual({
    followUps: "disabled",
    retention: "indefinite",
    spendLimit: null,
    ...none,
  });
  expect(await modelOfNewAgent(member)).toBeUndefined();
  expect(await change(admin, "team", { defaultModel: { id: "small" } })).toMatchObject({
    status: 200,
    body: { followUps: "disabled", defaultModel: { id: "small" } },
  });
  const own = { id: "large", params: [{ id: "reasoning_effort", value: "high" }] };
  expect(await change(member, "me", { defaultModel: own })).toMatchObject({ status: 200, body: { defaultModel: own } });
  expect([await modelOfNewAgent(member), await modelOfNewAgent(admin), await modelOfNewAgent(account)]).toEqual([
    "large",
    "small",
    "small",
  ]);
  await change(member, "me", { defaultModel: null });
  expect(await modelOfNewAgent(member)).toBe("small");
  await change(admin, "team", { defaultModel: null });
  expect(await modelOfNewAgent(member)).toBeUndefined();
});

test("administrators change the team's settings, one member at a time; others read them", async () => {
  expect(await change(member, "team", { followUps: "all" })).toMatchObject({ status: 403 });
  await change(admin, "team", { defaultModel: { id: "small" } });
  expect(await change(admin, "team", { followUps: "all" })).toMatchObject({
    body: { followUps: "all", defaultModel: { id: "small" } },
  });
  expect(await read(member, "team")).toMatchObject({ followUps: "all", defaultModel: { id: "small" } });
  await change(admin, "team", { followUps: "disabled", defaultModel: null });
});

test("an administrator chooses a spend limit, or that there is none; what the operator has limited stays", async () => {
  const owner = await server.key({ team: "thrifty", owner: { kind: "user", email: "fay@example.com" } });
  const { changeTeam, listTeams } = openAdministration(server.platform.db, server.platform.vault);
  const limitOf = async () => ((await read(owner, "team")) as TeamSettings).spendLimit;
  const choose = async (monthlyUsd: number | null) =>
    (await change(owner, "team", { spendLimit: { monthlyUsd } })).status;
  expect(await limitOf()).toBeNull();
  expect(await choose(100)).toBe(200);
  expect(await limitOf()).toEqual({ monthlyUsd: 100 });
  expect(await listTeams()).toContainEqual(expect.objectContaining({ name: "thrifty", spendLimitUsd: 100 }));
  expect(await choose(12.5)).toBe(200);
  expect(await choose(null)).toBe(200);
  expect(await limitOf()).toEqual({ monthlyUsd: null });
  for (const spendLimit of [null, {}, { monthlyUsd: -1 }, { monthlyUsd: "5" }])
    expect(await change(owner, "team", { spendLimit })).toMatchObject({ status: 400 });

  await changeTeam("thrifty", { spendLimitUsd: 50 });
  expect(await choose(51)).toBe(403);
  expect(await choose(null)).toBe(403);
  expect(await choose(50)).toBe(200);
  expect(await change(owner, "team", { followUps: "all", spendLimit: { monthlyUsd: 51 } })).toMatchObject({
    status: 403,
    body: { error: { code: "forbidden", message: expect.stringContaining("operator") } },
  });
  expect(await read(owner, "team")).toMatchObject({ followUps: "disabled", spendLimit: { monthlyUsd: 50 } });
  await changeTeam("thrifty", { spendLimitUsd: null });
  expect(await limitOf()).toEqual({ monthlyUsd: null });
  expect(await choose(20)).toBe(200);
  // Of a version that did not note who set it.
  await server.platform.db.deleteFrom("team_settings").execute();
  expect(await limitOf()).toEqual({ monthlyUsd: 20 });
  expect(await choose(21)).toBe(403);
});

test("an administrator who chooses while the operator sets a limit does not overtake them", async () => {
  const owner = await server.key({ team: "racing", owner: { kind: "user", email: "gil@example.com" } });
  const { db, vault } = server.platform;
  const { changeTeam } = openAdministration(db, vault);
  const haveToWait = (count: number) =>
    expect
      .poll(async () => {
        const waiting = sql<{ pid: number }>`
          select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await waiting.execute(db)).rows;
      })
      .toHaveLength(count);
  const both: Promise<unknown>[] = [];
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom("teams").select("id").where("name", "=", "racing").forUpdate().execute();
    both.push(changeTeam("racing", { spendLimitUsd: 50 }));
    await haveToWait(1);
    both.push(change(owner, "team", { spendLimit: { monthlyUsd: 51 } }));
    await haveToWait(2);
  });
  expect(await Promise.all(both)).toMatchObject([{ spendLimitUsd: 50 }, { status: 403 }]);
  expect(await read(owner, "team")).toMatchObject({ spendLimit: { monthlyUsd: 50 } });
});

test("an administrator who chooses does not wait for requests that add something to the team", async () => {
  const owner = await server.key({ team: "growing", owner: { kind: "user", email: "ida@example.com" } });
  await server.platform.db.transaction().execute(async (tx) => {
    // As rows that refer to the team do.
    await tx.selectFrom("teams").select("id").where("name", "=", "growing").forKeyShare().execute();
    expect(await change(owner, "team", { spendLimit: { monthlyUsd: 5 } })).toMatchObject({ status: 200 });
  });
});

test("a service account has no settings of its own", async () => {
  expect(await read(account, "me")).toEqual({ defaultModel: null, egress: null, autofix: null, newAgent: null });
  expect(await change(account, "me", { defaultModel: { id: "small" } })).toMatchObject({
    status: 403,
    body: { error: { message: "A service account has no settings of its own; those of its team apply." } },
  });
});

test.each([
  [{ defaultModel: { id: "gone" } }, "invalid_model", "defaultModel.id: unknown model gone."],
  [
    { defaultModel: { id: "small", params: [{ id: "x", value: "1" }] } },
    "validation_error",
    "defaultModel.params.0.id: the model small has no parameter x",
  ],
  [{ defaultmodel: null }, "validation_error", "defaultmodel: unknown field"],
  [
    { newAgent: { repository: "https://token@host/a/b" } },
    "validation_error",
    "newAgent.repository: has credentials in it; leave them out",
  ],
  [
    { newAgent: { repository: "https://host/a/b", branch: "--upload-pack=x" } },
    "validation_error",
    'newAgent.branch: "--upload-pack=x" cannot be the name of a branch, tag or commit',
  ],
])("%j is refused by name", async (body, code, message) => {
  for (const whose of ["me", "team"] as const)
    expect(await change(admin, whose, body)).toMatchObject({
      status: 400,
      body: { error: { code, message: expect.stringContaining(message) } },
    });
});

test("where the form of a new agent begins is kept for the user and for the team, and changes no request", async () => {
  const shop = { repository: "https://host.example/shop", branch: "next" };
  expect(await change(admin, "team", { newAgent: { environment: "shop" } })).toMatchObject({
    body: { newAgent: { environment: "shop" } },
  });
  expect(await change(member, "me", { newAgent: shop })).toMatchObject({ status: 200, body: { newAgent: shop } });
  expect(await read(member, "team")).toMatchObject({ newAgent: { environment: "shop" } });
  expect(await read(member, "me")).toMatchObject({ newAgent: shop });
  expect(await read(admin, "me")).toMatchObject({ newAgent: null });
  const { body } = await server.call(member, "POST", "/v1/agents", { prompt: { text: "do it" } });
  expect(body).not.toHaveProperty("agent.repos");
  await change(admin, "team", { newAgent: null });
  await change(member, "me", { newAgent: null });
});

test("a default that the server no longer has is named when it would be used", async () => {
  const { db } = server.platform;
  const team = await server.key({ team: "old", owner: { kind: "user", email: "old@example.com" } });
  const { id } = await db.selectFrom("teams").select("id").where("name", "=", "old").executeTakeFirstOrThrow();
  const settings = JSON.stringify({ defaultModel: { id: "retired" } });
  await db.insertInto("team_settings").values({ team_id: id, settings }).execute();
  expect(await server.call(team, "POST", "/v1/agents", { prompt: { text: "do it" } })).toMatchObject({
    status: 400,
    body: {
      error: { code: "invalid_model", message: expect.stringMatching(/default of the team's settings.*retired/) },
    },
  });
});

test("a team uses only the models that its administrators allow, in every way that names one", async () => {
  const owner = await server.key({ team: "careful", owner: { kind: "user", email: "eve@example.com" } });
  const create = (body: object) => server.call(owner, "POST", "/v1/agents", { prompt: { text: "do it" }, ...body });
  const refused = {
    status: 400,
    body: { error: { code: "invalid_model", message: expect.stringContaining("may use") } },
  };
  expect(await change(owner, "team", { allowedModels: ["small", "gone"] })).toMatchObject({
    body: { error: { message: expect.stringContaining("allowedModels.1: unknown model gone") } },
  });
  expect(
    await change(owner, "team", { allowedModels: ["small", "large"], defaultModel: { id: "gpt-5" } }),
  ).toMatchObject(refused);
  expect(await read(owner, "team")).toMatchObject({ allowedModels: null, defaultModel: null });
  expect(await change(owner, "team", { allowedModels: ["small", "large"] })).toMatchObject({
    body: { allowedModels: ["small", "large"] },
  });
  const listed = (await server.call(owner, "GET", "/v1/models")).body as { items: { id: string }[] };
  expect(listed.items.map(({ id }) => id)).toEqual(["small", "large"]);
  expect((await server.call(owner, "GET", "/v0/models")).body).toEqual({ models: ["small", "large"] });
  expect(await create({ model: { id: "large" } })).toMatchObject({ status: 200 });
  expect(await create({ model: { id: "gpt-5" } })).toMatchObject(refused);
  expect(await create({ model: { id: "practice" } })).toMatchObject(refused);
  const subagent = { name: "helper", description: "helps", prompt: "Help.", model: "gpt-5" };
  expect(await create({ model: { id: "large" }, customSubagents: [subagent] })).toMatchObject(refused);
  expect(await change(owner, "me", { defaultModel: { id: "gpt-5" } })).toMatchObject(refused);
  const call = { model: "practice", input: "Hello" };
  expect(await server.call(owner, "POST", "/v1/inference/responses", call)).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_model" } },
  });
  // Another team is not concerned.
  expect(await modelOfNewAgent(member)).toBeUndefined();
});

test("every change is in the audit log, with its actor", async () => {
  await change(admin, "team", { defaultModel: { id: "small" } });
  await change(member, "me", { defaultModel: { id: "large" } });
  const rows = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const entries = rows.map(({ entry }) => JSON.parse(entry) as { action: string; actor: string });
  for (const name of ["team_settings", "user_settings"])
    expect(entries.filter(({ action }) => action.startsWith(`${name}.`)).map(({ actor }) => actor)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^user:\d+$/)]),
    );
});
