// Agents are their owner's; the team reads them as far as it reads their repositories, and sends messages where it may.
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openRepositoryReading } from "../src/accounts/index.ts";
import { keepAccount } from "../src/accounts/store.ts";
import type { FollowUps } from "../src/db/index.ts";
import { openAdministration } from "../src/principals/index.ts";
import { openGithub } from "../src/scm/index.ts";
import { githubSettings } from "./github-settings.ts";
import { type TestServer, testServer } from "./platform.ts";

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

/** An account with a token that sees these repositories, or all. Dan has none. */
async function connect(login: string, repositories: string[] | null): Promise<void> {
  const { db, vault } = server.platform;
  const user = await db.selectFrom("users").select("id").where("email", "=", `${login}@x`).executeTakeFirstOrThrow();
  const token = fake.addToken(login);
  const grant = fake.grants.find((one) => one.token === token) ?? expect.fail("no grant");
  grant.repositories = repositories;
  const id = { userId: user.id, host: new URL(fake.url).host };
  // Another account each time: what was known of the former one is not asked for.
  const accountId = `${login}-${fake.grants.length}`;
  const tokens = { token, expiresAt: null, refreshToken: null };
  await keepAccount({ db, vault }, { ...id, accountId, login, tokens });
}

const administration = () => openAdministration(server.platform.db, server.platform.vault);
const followUps = (setting: FollowUps) => administration().changeTeam("default", { followUps: setting });

const as = (person: Person, method: string, path: string, body?: unknown) =>
  server.call(keys[person], method, path, body);

/** With its run at an end, so that it can be given another. */
async function agentOf(owner: Person, repository?: string): Promise<string> {
  const repos = repository === undefined ? [] : [{ url: `${fake.url}/${repository}` }];
  const { status, body } = await as(owner, "POST", "/v1/agents", { prompt: { text: "work" }, repos });
  expect({ status, body }).toMatchObject({ status: 200 });
  const { id } = (body as { agent: { id: string } }).agent;
  await endRuns();
  return id;
}

const endRuns = () => server.platform.db.updateTable("runs").set({ status: "FINISHED" }).execute();

type Asked = [method: string, path: string, body?: unknown];

const deeds = {
  read: (id: string): Asked => ["GET", `/v1/agents/${id}`],
  followUp: (id: string): Asked => ["POST", `/v1/agents/${id}/runs`, { prompt: { text: "more" } }],
  archive: (id: string): Asked => ["POST", `/v1/agents/${id}/archive`],
  unarchive: (id: string): Asked => ["POST", `/v1/agents/${id}/unarchive`],
  delete: (id: string): Asked => ["DELETE", `/v1/agents/${id}`],
};
type Does = keyof typeof deeds;

/** `read` and `manage` hold under every setting. */
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
  const statusOf = async (does: Does, id: string) => (await as(person, ...deeds[does](id))).status;
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
  for (const does of ["archive", "unarchive", "delete"] as const)
    expect([does, await statusOf(does, ofAda)]).toEqual([does, manage]);
  expect((await as("ada", ...deeds.read(ofAda))).status).toBe(manage === 200 ? 404 : 200);
});

const everyReading = (id: string, runId: string) => [
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

test("nothing of an agent is read by a teammate whose account does not reach its repository", async () => {
  const id = await agentOf("ada", "acme/shop");
  for (const path of everyReading(id, await runOf(id))) {
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

test("whoever cannot read an agent can do nothing else to it either, whatever the team allows", async () => {
  await followUps("all");
  const id = await agentOf("ada", "acme/shop");
  const before = await as("ada", "GET", `/v1/agents/${id}/runs`);
  for (const does of ["followUp", "archive", "delete"] as const) {
    expect([does, (await as("cleo", ...deeds[does](id))).status]).toEqual([does, 403]);
    expect([does, (await as("dan", ...deeds[does](id))).status]).toEqual([does, 400]);
  }
  expect(await as("ada", "GET", `/v1/agents/${id}/runs`)).toMatchObject({ body: before.body });
});

test("a host that cannot be asked shows nobody anything, and the owner everything", async () => {
  const id = await agentOf("ada", "acme/shop");
  await connect("bob", ["shop"]);
  const away = { operation: "repos/get", answer: { status: 503, body: { message: "Unavailable" } } } as const;
  for (let count = 0; count < 3; count += 1) fake.surprise(away);
  expect(await as("bob", "GET", `/v1/agents/${id}`)).toMatchObject({
    status: 503,
    body: { error: { code: "unavailable", message: expect.stringContaining("could not be asked") } },
  });
  expect((await as("ada", "GET", `/v1/agents/${id}`)).status).toBe(200);
  expect((await as("bob", "GET", `/v1/agents/${id}`)).status).toBe(200);
});

const listed = async (person: Person, query = ""): Promise<string[]> => {
  const { body } = await as(person, "GET", `/v1/agents?${query}`);
  return (body as { items: { id: string }[] }).items.map(({ id }) => id);
};

test("lists hold what may be read, and the host is asked once for a repository", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const plain = await agentOf("ada");
  const closed = [await agentOf("ada", "acme/shop"), await agentOf("ada", "acme/shop")];
  await connect("bob", ["shop"]);
  const all = [...closed].reverse().concat(plain);
  fake.asked.length = 0;
  for (const person of ["ada", "bob", "admin", "bot", "bob"] as const)
    expect([person, await listed(person)]).toEqual([person, all]);
  expect(fake.asked.length).toBe(1);
  for (const person of ["cleo", "dan"] as const) expect([person, await listed(person)]).toEqual([person, [plain]]);
  expect(await listed("stranger")).toEqual([]);
  const { body } = await as("dan", "GET", "/v0/agents");
  expect((body as { agents: { id: string }[] }).agents.map(({ id }) => id)).toEqual([plain]);
});

test("a page is filled with what may be read, however much lies between", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const oldest = [await agentOf("ada"), await agentOf("ada")];
  for (let count = 0; count < 6; count += 1) await agentOf("ada", "acme/shop");
  const newest = await agentOf("ada");
  expect(await listed("cleo", "limit=2")).toEqual([newest, oldest[1]]);
  expect(await everyPage("cleo", 2)).toEqual([newest, ...oldest.reverse()]);
});

test("a list asks about no more than so many repositories at once, and turning its pages finds all agents", async () => {
  await server.platform.db.deleteFrom("agents").execute();
  const ids: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    await fake.addRepository(`acme/many-${count}`, { collaborators: ["ada"] });
    ids.unshift(await agentOf("ada", `acme/many-${count}`));
  }
  await connect(
    "bob",
    Array.from({ length: 60 }, (_, count) => `many-${count}`),
  );
  fake.asked.length = 0;
  const { body } = await as("bob", "GET", "/v1/agents?limit=100");
  expect(fake.asked.length).toBe(25);
  expect((body as { items: unknown[] }).items.length).toBe(25);
  expect(await everyPage("bob", 100)).toEqual(ids);
  expect(fake.asked.length).toBe(60);
}, 60_000);

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

test("a follow-up reaches what the person reaches who sent it, and is theirs", async () => {
  await followUps("all");
  const shop = await fake.addRepository("acme/follow", { collaborators: ["ada"] });
  const id = await agentOf("ada", "acme/follow");
  await connect("bob", ["follow"]);
  expect(await as("bob", ...deeds.followUp(id))).toMatchObject({
    status: 400,
    body: { error: { code: "repository_access", message: expect.stringContaining("bob") } },
  });
  shop.collaborators.push("bob");
  const sent = await as("bob", ...deeds.followUp(id));
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

test("whoever asked for a run may end it, and nobody else but its owner and administrators", async () => {
  await followUps("all");
  const id = await agentOf("ada");
  const { body } = await as("bob", ...deeds.followUp(id));
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

test("what the host said of one account is not held to be true of another, or of none", async () => {
  const id = await agentOf("ada", "acme/shop");
  await connect("bob", ["shop"]);
  expect((await as("bob", ...deeds.read(id))).status).toBe(200);
  await connect("bob", []);
  expect((await as("bob", ...deeds.read(id))).status).toBe(403);
  await server.platform.db.deleteFrom("source_accounts").where("login", "=", "bob").execute();
  expect((await as("bob", ...deeds.read(id))).status).toBe(400);
});

test("an answer of the host is believed for a minute, and no answer at all not even that long", async () => {
  const { db, vault, settings } = server.platform;
  await connect("bob", ["shop"]);
  const user = await db.selectFrom("users").select("id").where("email", "=", "bob@x").executeTakeFirstOrThrow();
  const github = settings.sourceHosts.github ?? expect.fail("no settings");
  let now = 0;
  const { accounts } = openGithub(github, settings.variables);
  const reading = openRepositoryReading({ store: { db, vault }, github: accounts, now: () => now });
  const judge = () => reading.judge(user.id, `${fake.url}/acme/shop`);
  fake.asked.length = 0;
  const counts: number[] = [];
  for (const at of [0, 59_999, 60_000]) {
    now = at;
    expect(await Promise.all([judge(), judge()])).toEqual([{ kind: "granted" }, { kind: "granted" }]);
    counts.push(fake.asked.length);
  }
  expect(counts).toEqual([1, 1, 2]);
  now = 200_000;
  fake.surprise({ operation: "repos/get", answer: { status: 409, body: { message: "Odd" } } });
  expect(await judge()).toMatchObject({ kind: "unknown", reason: "Odd" });
  expect(await judge()).toEqual({ kind: "granted" });
});

test("what a team allows is in the audit log", async () => {
  await followUps("all");
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const changes = entries.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action === "team.changed");
  expect(changes.at(-1)).toMatchObject({ data: { follow_ups: "all" } });
});

test("an open stream ends when its reader may not read any more, and goes on for everybody else", async () => {
  await connect("bob", ["shop"]);
  const created = await as("ada", "POST", "/v1/agents", {
    prompt: { text: "work" },
    repos: [{ url: `${fake.url}/acme/shop` }],
  });
  const { agent, run } = created.body as { agent: { id: string }; run: { id: string } };
  const { platform, url } = server;
  const brief = await server.key({ owner: { kind: "user", email: "ada@x" } });
  const { id: userId } = await administration().findUser("ada@x");
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
  const byKey = (key: string) =>
    open(`/v1/agents/${agent.id}/runs/${run.id}/stream`, { authorization: `Bearer ${key}` });
  const page = `/agents/${agent.id}/runs/${run.id}/stream`;
  const readers = {
    owner: await byKey(keys.ada),
    revokedKey: await byKey(brief),
    lostAccess: await byKey(keys.bob),
    endedSession: await open(page, { cookie: `platform_session=${secret}` }),
  };
  await platform.principals.revokeKey(brief.split("_")[1] ?? "");
  await connect("bob", []);
  await platform.sessions.endOf(userId, "all");
  const over = () => Object.entries(readers).flatMap(([name, { isOver }]) => (isOver ? [name] : []));
  await expect.poll(over).toEqual(["revokedKey", "lostAccess", "endedSession"]);
  readers.owner.leave();
  await endRuns();
});
