// Agents belong to their owner; teammates read them if they can read their repositories, and follow up where allowed.
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FollowUps } from "../../src/foundation/db/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { openRepositoryReading } from "../../src/repositories/accounts/index.ts";
import { saveAccount } from "../../src/repositories/accounts/store.ts";
import { openGithub } from "../../src/repositories/scm/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { githubSettings } from "../repositories/github-settings.ts";

let fake: FakeGithub;
let server: TestServer;
let keys: Record<Person, string>;

const people = ["ada", "bob", "cleo", "dan", "admin", "weakAdmin", "ci", "bot", "stranger"] as const;
type Person = (typeof people)[number];

beforeAll(async () => {
  fake = await startGithub();
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  const github = { ...(await githubSettings(fake)), client };
  server = await testServer({
    roles: ["api"],
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: { blocked: [], protected: [], github },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  });
  const user = (email: string) => server.key({ owner: { kind: "user", email } });
  const account = (name: string) => server.key({ owner: { kind: "service_account", name } });
  const admin = await server.key();
  keys = {
    admin,
    weakAdmin: await server.key({ scopes: ["agents:read", "agents:write"] }),
    ada: await user("ada@x"),
    bob: await user("bob@x"),
    cleo: await user("cleo@x"),
    dan: await user("dan@x"),
    ci: await account("ci"),
    bot: await account("bot"),
    stranger: await server.key({ team: "others" }),
  };
  await fake.addRepository("acme/shop", { collaborators: ["ada"] });
  await connect("ada", null);
  await connect("bob", ["shop"]);
  await connect("cleo", []);
});
afterAll(async () => {
  await server.close();
  await fake.close();
});
beforeEach(() => followUps("disabled"));

/** Connects an account whose token sees these repositories, or all. Dan has none. */
async function connect(login: string, repositories: string[] | null): Promise<void> {
  const { db, vault } = server.platform;
  const user = await db.selectFrom("users").select("id").where("email", "=", `${login}@x`).executeTakeFirstOrThrow();
  const token = fake.addToken(login);
  const grant = fake.grants.find((one) => one.token === token) ?? expect.fail("no grant");
  grant.repositories = repositories;
  const id = { userId: user.id, host: new URL(fake.url).host };
  // A new account each time, so that cached answers about the former one are not used.
  const accountId = `${login}-${fake.grants.length}`;
  const tokens = { token, expiresAt: null, refreshToken: null };
  await saveAccount({ db, vault }, { ...id, accountId, login, tokens });
}

const administration = () => openAdministration(server.platform.db, server.platform.vault);
const followUps = (setting: FollowUps) => administration().changeTeam("default", { followUps: setting });

const as = (person: Person, method: string, path: string, body?: unknown) =>
  server.call(keys[person], method, path, body);

/** An agent whose run has ended, so that it accepts another. */
async function agentOf(owner: Person, repository?: string): Promise<string> {
  const repos = repository === undefined ? [] : [{ url: `${fake.url}/${repository}` }];
  const { status, body } = await as(owner, "POST", "/v1/agents", { prompt: { text: "work" }, repos });
  expect({ status, body }).toMatchObject({ status: 200 });
  const { id } = (body as { agent: { id: string } }).agent;
  await endRuns();
  return id;
}

const endRuns = () => server.platform.db.updateTable("runs").set({ status: "FINISHED" }).execute();

type CallArguments = [method: string, path: string, body?: unknown];

const calls = {
  read: (id: string): CallArguments => ["GET", `/v1/agents/${id}`],
  followUp: (id: string): CallArguments => ["POST", `/v1/agents/${id}/runs`, { prompt: { text: "more" } }],
  archive: (id: string): CallArguments => ["POST", `/v1/agents/${id}/archive`],
  unarchive: (id: string): CallArguments => ["POST", `/v1/agents/${id}/unarchive`],
  delete: (id: string): CallArguments => ["DELETE", `/v1/agents/${id}`],
};
type Action = keyof typeof calls;

/** `read` and `manage` are the same under every setting. */
const table: Record<
  Person,
  { read: number; manage: number; followUp: Record<FollowUps, [ofAda: number, ofCi: number]> }
> = {
  ada: { read: 200, manage: 200, followUp: { disabled: [200, 403], service_accounts: [200, 200], all: [200, 200] } },
  bob: { read: 200, manage: 403, followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] } },
  cleo: { read: 200, manage: 403, followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] } },
  dan: { read: 200, manage: 403, followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] } },
  admin: { read: 200, manage: 200, followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] } },
  weakAdmin: {
    read: 200,
    manage: 403,
    followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] },
  },
  ci: { read: 200, manage: 403, followUp: { disabled: [403, 200], service_accounts: [403, 200], all: [200, 200] } },
  bot: { read: 200, manage: 403, followUp: { disabled: [403, 403], service_accounts: [403, 200], all: [200, 200] } },
  stranger: {
    read: 404,
    manage: 404,
    followUp: { disabled: [404, 404], service_accounts: [404, 404], all: [404, 404] },
  },
};

test.each(people)("%s reads, manages and follows up on agents as the table says", async (person) => {
  const [ofAda, ofCi] = [await agentOf("ada"), await agentOf("ci")];
  const statusOf = async (action: Action, id: string) => (await as(person, ...calls[action](id))).status;
  const { read, manage, followUp } = table[person];
  expect([await statusOf("read", ofAda), await statusOf("read", ofCi)]).toEqual([read, read]);
  for (const setting of ["disabled", "service_accounts", "all"] as const) {
    await followUps(setting);
    expect([setting, await statusOf("followUp", ofAda), await statusOf("followUp", ofCi)]).toEqual([
      setting,
      ...followUp[setting],
    ]);
    await endRuns();
  }
  for (const action of ["archive", "unarchive", "delete"] as const)
    expect([action, await statusOf(action, ofAda)]).toEqual([action, manage]);
  expect((await as("ada", ...calls.read(ofAda))).status).toBe(manage === 200 ? 404 : 200);
});

const readPaths = (id: string, runId: string) => [
  `/v1/agents/${id}`,
  `/v1/agents/${id}/runs`,
  `/v1/agents/${id}/runs/${runId}`,
  `/v1/agents/${id}/runs/${runId}/stream`,
  `/v1/agents/${id}/usage`,
  `/v1/agents/${id}/diff`,
  `/v1/agents/${id}/artifacts`,
  `/v1/agents/${id}/artifacts/download?path=artifacts/a`,
  `/v1/agents/${id}/webhooks/deliveries`,
  `/v0/agents/${id}`,
  `/v0/agents/${id}/conversation`,
  `/v0/agents/${id}/artifacts`,
  `/v0/agents/${id}/artifacts/download?path=/opt/platform/artifacts/a`,
];

const runOf = async (id: string): Promise<string> =>
  ((await as("ada", "GET", `/v1/agents/${id}`)).body as { latestRunId: string }).latestRunId;

test("a teammate whose account cannot access the repository of an agent cannot read the agent", async () => {
  const id = await agentOf("ada", "acme/shop");
  for (const path of readPaths(id, await runOf(id))) {
    const denied = await as("cleo", "GET", path);
    expect({ path, ...denied }).toMatchObject({ path, status: 403, body: { error: { code: "forbidden" } } });
    expect(JSON.stringify(denied.body)).toContain("your account cleo");
    expect({ path, ...(await as("dan", "GET", path)) }).toMatchObject({
      path,
      status: 400,
      body: {
        error: { code: "integration_not_connected", provider: "github", helpUrl: `${server.url}/accounts` },
      },
    });
  }
  for (const person of ["bob", "admin", "bot"] as const)
    expect([person, (await as(person, "GET", `/v1/agents/${id}`)).status]).toEqual([person, 200]);
});

test("a user who cannot read an agent cannot change it either, whatever the team allows", async () => {
  await followUps("all");
  const id = await agentOf("ada", "acme/shop");
  const before = await as("ada", "GET", `/v1/agents/${id}/runs`);
  for (const action of ["followUp", "archive", "delete"] as const) {
    expect([action, (await as("cleo", ...calls[action](id))).status]).toEqual([action, 403]);
    expect([action, (await as("dan", ...calls[action](id))).status]).toEqual([action, 400]);
  }
  expect(await as("ada", "GET", `/v1/agents/${id}/runs`)).toMatchObject({ body: before.body });
});

test("while a host is unreachable, only the owner can read the agent", async () => {
  const id = await agentOf("ada", "acme/shop");
  await connect("bob", ["shop"]);
  const unavailable = { operation: "repos/get", response: { status: 503, body: { message: "Unavailable" } } } as const;
  for (let count = 0; count < 3; count += 1) fake.planResponse(unavailable);
  expect(await as("bob", "GET", `/v1/agents/${id}`)).toMatchObject({
    status: 503,
    body: { error: { code: "unavailable", message: expect.stringContaining("could not confirm") } },
  });
  expect((await as("ada", "GET", `/v1/agents/${id}`)).status).toBe(200);
  expect((await as("bob", "GET", `/v1/agents/${id}`)).status).toBe(200);
});

const listed = async (person: Person, query = ""): Promise<string[]> => {
  const { body } = await as(person, "GET", `/v1/agents?${query}`);
  return (body as { items: { id: string }[] }).items.map(({ id }) => id);
};

test("lists contain readable agents only, with one host request per repository", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const plain = await agentOf("ada");
  const closed = [await agentOf("ada", "acme/shop"), await agentOf("ada", "acme/shop")];
  await connect("bob", ["shop"]);
  const all = [...closed].reverse().concat(plain);
  fake.requests.length = 0;
  for (const person of ["ada", "bob", "admin", "bot", "bob"] as const)
    expect([person, await listed(person)]).toEqual([person, all]);
  expect(fake.requests.length).toBe(1);
  for (const person of ["cleo", "dan"] as const) expect([person, await listed(person)]).toEqual([person, [plain]]);
  expect(await listed("stranger")).toEqual([]);
  const { body } = await as("dan", "GET", "/v0/agents");
  expect((body as { agents: { id: string }[] }).agents.map(({ id }) => id)).toEqual([plain]);
});

test("a page is filled with readable agents, however many unreadable ones lie between", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const oldest = [await agentOf("ada"), await agentOf("ada")];
  for (let count = 0; count < 6; count += 1) await agentOf("ada", "acme/shop");
  const newest = await agentOf("ada");
  expect(await listed("cleo", "limit=2")).toEqual([newest, oldest[1]]);
  expect(await everyPage("cleo", 2)).toEqual([newest, ...oldest.reverse()]);
});

test("one list request checks at most 25 repositories, and paging finds all agents", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const ids: string[] = [];
  for (let count = 0; count < 30; count += 1) {
    await fake.addRepository(`acme/many-${count}`, { collaborators: ["ada"] });
    ids.unshift(await agentOf("ada", `acme/many-${count}`));
  }
  await connect(
    "bob",
    Array.from({ length: 30 }, (_, count) => `many-${count}`),
  );
  fake.requests.length = 0;
  const { body } = await as("bob", "GET", "/v1/agents?limit=100");
  expect(fake.requests.length).toBe(25);
  expect((body as { items: unknown[] }).items.length).toBe(25);
  expect(await everyPage("bob", 100)).toEqual(ids);
  expect(fake.requests.length).toBe(30);
});

async function everyPage(person: Person, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const query: string = cursor === "" ? `limit=${limit}` : `limit=${limit}&cursor=${cursor}`;
    const { body } = await as(person, "GET", `/v1/agents?${query}`);
    const page = body as { items: { id: string }[]; nextCursor?: string };
    found.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return found;
}

test("a follow-up has the access of its sender, and belongs to the sender", async () => {
  await followUps("all");
  const shop = await fake.addRepository("acme/follow", { collaborators: ["ada"] });
  const id = await agentOf("ada", "acme/follow");
  await connect("bob", ["follow"]);
  expect(await as("bob", ...calls.followUp(id))).toMatchObject({
    status: 400,
    body: { error: { code: "repository_access", message: expect.stringContaining("bob") } },
  });
  shop.collaborators.push("bob");
  const sent = await as("bob", ...calls.followUp(id));
  expect(sent).toMatchObject({ status: 200 });
  const runId = (sent.body as { run: { id: string } }).run.id;
  const row = await server.platform.db
    .selectFrom("runs")
    .innerJoin("users", "users.id", "runs.user_id")
    .select("email")
    .where("runs.id", "=", runId)
    .executeTakeFirstOrThrow();
  expect(row.email).toBe("bob@x");
});

test("a run can be cancelled by its requester, the owner and administrators, and no other user", async () => {
  await followUps("all");
  const id = await agentOf("ada");
  const { body } = await as("bob", ...calls.followUp(id));
  const cancel = `/v1/agents/${id}/runs/${(body as { run: { id: string } }).run.id}/cancel`;
  for (const person of ["cleo", "bot", "weakAdmin"] as const) {
    expect([person, (await as(person, "POST", cancel)).status]).toEqual([person, 403]);
    expect([person, (await as(person, "POST", `/v0/agents/${id}/stop`)).status]).toEqual([person, 403]);
  }
  for (const person of ["bob", "ada", "admin"] as const) {
    expect([person, (await as(person, "POST", cancel)).status]).toEqual([person, 200]);
    expect([person, (await as(person, "POST", `/v0/agents/${id}/stop`)).status]).toEqual([person, 200]);
  }
});

test("a host's answer about one account is not reused for another account, or for none", async () => {
  const id = await agentOf("ada", "acme/shop");
  await connect("bob", ["shop"]);
  expect((await as("bob", ...calls.read(id))).status).toBe(200);
  await connect("bob", []);
  expect((await as("bob", ...calls.read(id))).status).toBe(403);
  await server.platform.db.deleteFrom("source_accounts").where("login", "=", "bob").execute();
  expect((await as("bob", ...calls.read(id))).status).toBe(400);
});

test("a host's answer is cached for a minute, and a failure is not cached", async () => {
  const { db, vault, settings } = server.platform;
  await connect("bob", ["shop"]);
  const user = await db.selectFrom("users").select("id").where("email", "=", "bob@x").executeTakeFirstOrThrow();
  const github = settings.sourceHosts.github ?? expect.fail("no settings");
  let now = 0;
  const { accounts } = openGithub(github, settings.variables);
  const reading = openRepositoryReading({ store: { db, vault }, github: accounts, now: () => now });
  const judge = () => reading.judge(user.id, `${fake.url}/acme/shop`);
  fake.requests.length = 0;
  const counts: number[] = [];
  for (const at of [0, 59_999, 60_000]) {
    now = at;
    expect(await Promise.all([judge(), judge()])).toEqual([{ kind: "granted" }, { kind: "granted" }]);
    counts.push(fake.requests.length);
  }
  expect(counts).toEqual([1, 1, 2]);
  now = 200_000;
  fake.planResponse({ operation: "repos/get", response: { status: 409, body: { message: "Odd" } } });
  expect(await judge()).toMatchObject({ kind: "unknown", reason: "Odd" });
  expect(await judge()).toEqual({ kind: "granted" });
});

test("sharing settings of a team are in the audit log", async () => {
  await followUps("all");
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const changes = entries.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action === "team.changed");
  expect(changes.at(-1)).toMatchObject({ data: { follow_ups: "all" } });
});

test("an open stream ends when its reader loses access, and continues for other readers", async () => {
  await connect("bob", ["shop"]);
  const created = await as("ada", "POST", "/v1/agents", {
    prompt: { text: "work" },
    repos: [{ url: `${fake.url}/acme/shop` }],
  });
  const { agent, run } = created.body as { agent: { id: string }; run: { id: string } };
  const { platform, url } = server;
  const brief = await server.key({ owner: { kind: "user", email: "ada@x" } });
  const { id: userId } = await administration().findUser({ email: "ada@x" });
  const secret = await platform.sessions.begin(userId, "link");
  const open = async (path: string, headers: Record<string, string>) => {
    const leave = new AbortController();
    const answer = await fetch(`${url}${path}`, { headers, signal: leave.signal });
    expect(answer.status).toBe(200);
    const reader = { isOver: false, leave: () => leave.abort() };
    const over = () => (reader.isOver = true);
    answer.text().then(over, over);
    return reader;
  };
  const stream = `/v1/agents/${agent.id}/runs/${run.id}/stream`;
  const byKey = (key: string) => open(stream, { authorization: `Bearer ${key}` });
  const readers = {
    owner: await byKey(keys.ada),
    revokedKey: await byKey(brief),
    lostAccess: await byKey(keys.bob),
    endedSession: await open(stream, { cookie: `platform_session=${secret}` }),
  };
  await platform.principals.revokeKey(brief.split("_")[1] ?? "");
  await connect("bob", []);
  await platform.sessions.endOf(userId, "all");
  const over = () => Object.entries(readers).flatMap(([name, { isOver }]) => (isOver ? [name] : []));
  await expect.poll(over).toEqual(["revokedKey", "lostAccess", "endedSession"]);
  readers.owner.leave();
  await endRuns();
});
