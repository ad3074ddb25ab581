// Every change leaves an entry with its actor in the audit log: each route of the OpenAPI document and each command.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCommandLine } from "@agentcli/command-line";
import { temporaryDirectory } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import type { Kysely } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { syntax } from "../../src/commands/syntax.ts";
import type { Tables } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { openInvitations } from "../../src/identity/invitations/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { openSessions } from "../../src/identity/sessions/index.ts";
import { announceServer } from "../../src/server-file.ts";
import { emptyDatabase, freshDatabase } from "../harness/database.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { openPull, type PullName } from "../repositories/open-pull.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  // Only requests change anything: no server drives runs.
  server = await testServer({ roles: ["api"], allowPrivate: ["127.0.0.0/8"] });
  key = await server.key();
});
afterAll(() => server.close());

const prompt = { text: "go" };
const call = (method: string, path: string, body?: unknown) => openClient(server.url, key).send(method, path, body);

interface CreatedAgent {
  agentId: string;
  runId: string;
}

async function create(): Promise<CreatedAgent> {
  const webhook = { url: "http://127.0.0.1:9/", secret: "s".repeat(32) };
  return openClient(server.url, key).create({ prompt, webhook });
}

async function createFinished(): Promise<CreatedAgent> {
  const created = await create();
  await server.platform.db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", created.runId).execute();
  return created;
}

async function createArchived(): Promise<CreatedAgent> {
  const created = await create();
  await call("POST", `/v1/agents/${created.agentId}/archive`);
  return created;
}

async function createDelivered(): Promise<CreatedAgent & { deliveryId: string }> {
  const created = await createFinished();
  const deliveryId = `wh_${created.runId}`;
  await server.platform.db
    .insertInto("webhook_deliveries")
    .values({ id: deliveryId, agent_id: created.agentId, run_id: created.runId, status: "dead" })
    .execute();
  return { ...created, deliveryId };
}

interface CreatedEnvironment {
  environmentId: string;
  buildId: string;
}

async function createEnvironment(
  build: "IN_PROGRESS" | "SUCCEEDED" | "DRAFT" = "IN_PROGRESS",
): Promise<CreatedEnvironment> {
  const { bytes } = await call("POST", "/v1/environments", environment());
  const { id } = JSON.parse(bytes.toString());
  const { id: buildId } = await server.platform.db
    .updateTable("environment_builds")
    .set({ status: build === "DRAFT" ? "SUCCEEDED" : build, draft: build === "DRAFT" })
    .where("environment_id", "=", id)
    .returning("id")
    .executeTakeFirstOrThrow();
  return { environmentId: id, buildId };
}

async function createEnvironmentSecret(): Promise<CreatedEnvironment> {
  const created = await createEnvironment();
  await call("PUT", `/v1/environments/${created.environmentId}/secrets/${secretName}`, { value: "v" });
  return created;
}

const secretName = "A_SECRET";
const environment = () => ({ owner: "team", name: randomUUID(), repos: [], environmentJson: "{}" });

async function createEventSource(): Promise<{ sourceId: string }> {
  const { bytes } = await call("POST", "/v1/event-sources", { type: "github", name: "acme" });
  return { sourceId: JSON.parse(bytes.toString()).id };
}

interface CreatedAutomation {
  automationId: string;
  keyId: string;
}

async function createAutomation(change: object = {}): Promise<CreatedAutomation> {
  const { bytes } = await call("POST", "/v1/automations", { ...automation(), ...change });
  const { id } = JSON.parse(bytes.toString());
  const key = await call("POST", `/v1/automations/${id}/webhook-keys`);
  return { automationId: id, keyId: JSON.parse(key.bytes.toString()).id };
}

const automation = () => ({ name: randomUUID(), prompt, triggers: [{ type: "webhook" }] });

async function createMemory(): Promise<CreatedAutomation> {
  const created = await createAutomation();
  await call("PUT", `/v1/automations/${created.automationId}/memories/${secretName}`, { text: "v" });
  return created;
}

const timer = { filter: { source: "timer", delaySeconds: 86_400 } };

async function createSubscription(): Promise<Partial<Targets>> {
  const created = await create();
  const { bytes } = await call("POST", `/v1/agents/${created.agentId}/subscriptions`, timer);
  return { ...created, subscriptionId: JSON.parse(bytes.toString()).id };
}

async function createMember(): Promise<{ memberId: string }> {
  const { platform } = server;
  const email = `${randomUUID()}@example.com`;
  const { id } = await openAdministration(platform.db, platform.vault).createUser({
    email,
    team: "default",
    role: "member",
  });
  await openSessions(platform.db, () => new Date()).begin(id, "link");
  return { memberId: String(id) };
}

async function createInvitation(): Promise<{ invitationId: string }> {
  const { db } = server.platform;
  const { id: teamId } = await db.selectFrom("teams").select("id").orderBy("id").executeTakeFirstOrThrow();
  const request = { teamId, email: `${randomUUID()}@example.com`, role: "member" } as const;
  const { id } = await openInvitations(db, () => new Date()).invite(request);
  return { invitationId: id };
}

async function createKey(): Promise<{ keyId: string }> {
  return { keyId: (await server.key()).split("_")[1] ?? expect.fail("no key") };
}

async function connectAccount(): Promise<{ host: string }> {
  const account = { user_id: 1, host: "git.example.com", account_id: "1", login: "ada", token: null };
  await server.platform.db.insertInto("source_accounts").values(account).execute();
  return account;
}

interface OtherIds {
  host: string;
  memberId: string;
  invitationId: string;
  deliveryId: string;
  sourceId: string;
  subscriptionId: string;
}

type Targets = CreatedAgent & CreatedEnvironment & CreatedAutomation & OtherIds & PullName;

const createPull = (): Promise<PullName> => openPull(server.url, key, `shop-${randomUUID()}`);

/** A request per route that changes something. A new route must be added here or to `changesNothing`. */
const requests: Record<string, { prepare?: () => Promise<Partial<Targets>>; query?: string; body?: object }> = {
  "post /v1/agents": { body: { prompt } },
  "post /v1/agents/{id}/archive": { prepare: create },
  "post /v1/agents/{id}/unarchive": { prepare: createArchived },
  "delete /v1/agents/{id}": { prepare: create },
  "post /v1/agents/{id}/runs": { prepare: createFinished, body: { prompt } },
  "post /v1/agents/{id}/runs/{runId}/cancel": { prepare: create },
  "post /v1/agents/{id}/runs/{runId}/messages": { prepare: create, body: { text: "be quick" } },
  "post /v1/agents/{id}/webhooks/deliveries/{deliveryId}/redeliver": { prepare: createDelivered },
  "patch /v1/members/{memberId}": { prepare: createMember, body: { role: "admin" } },
  "delete /v1/members/{memberId}": { prepare: createMember },
  "delete /v1/members/{memberId}/sessions": { prepare: createMember },
  "delete /v1/invitations/{invitationId}": { prepare: createInvitation },
  "post /v1/service-accounts": { body: { name: "an account" } },
  "post /v1/repositories": { body: { name: "sample" } },
  "patch /v1/repositories/{name}/pulls/{number}": { prepare: createPull, body: { draft: true } },
  "post /v1/repositories/{name}/pulls/{number}/comments": { prepare: createPull, body: { body: "Why?" } },
  "post /v1/repositories/{name}/pulls/{number}/reviews": { prepare: createPull, body: { verdict: "approved" } },
  "post /v1/repositories/{name}/pulls/{number}/merge": { prepare: createPull },
  "delete /v1/me/accounts/{host}": { prepare: connectAccount },
  "delete /v1/keys/{keyId}": { prepare: createKey },
  "patch /v1/team/settings": { body: { followUps: "all" } },
  "patch /v1/me/settings": { body: { defaultModel: { id: "practice" } } },
  "put /v1/team/credentials": { body: { host: "git.example.com", kind: "token", value: "t" } },
  "delete /v1/team/credentials": { query: "?host=git.example.com&kind=token" },
  "put /v1/team/secrets/{name}": { body: { value: "v" } },
  "delete /v1/team/secrets/{name}": {},
  "put /v1/me/secrets/{name}": { body: { value: "v" } },
  "delete /v1/me/secrets/{name}": {},
  "put /v1/environments/{environmentId}/secrets/{name}": { prepare: () => createEnvironment(), body: { value: "v" } },
  "delete /v1/environments/{environmentId}/secrets/{name}": { prepare: createEnvironmentSecret },
  "post /v1/environments": { body: environment() },
  "patch /v1/environments/{environmentId}": {
    prepare: () => createEnvironment(),
    body: { environmentJson: '{"start": "a"}' },
  },
  "delete /v1/environments/{environmentId}": { prepare: () => createEnvironment() },
  "post /v1/environments/{environmentId}/builds": { prepare: () => createEnvironment(), body: {} },
  "post /v1/environments/{environmentId}/builds/{buildId}/activate": { prepare: () => createEnvironment("SUCCEEDED") },
  "post /v1/environments/{environmentId}/builds/{buildId}/discard": { prepare: () => createEnvironment("DRAFT") },
  "post /v1/environments/{environmentId}/builds/{buildId}/cancel": { prepare: () => createEnvironment() },
  "post /v1/automations": { body: automation() },
  "post /v1/event-sources": { body: { type: "github", name: "acme" } },
  "delete /v1/event-sources/{sourceId}": { prepare: createEventSource },
  "patch /v1/automations/{automationId}": { prepare: createAutomation, body: { missed: "skip" } },
  "delete /v1/automations/{automationId}": { prepare: createAutomation },
  "post /v1/automations/{automationId}/enable": { prepare: () => createAutomation({ enabled: false }) },
  "post /v1/automations/{automationId}/disable": { prepare: createAutomation },
  "post /v1/automations/{automationId}/run": { prepare: createAutomation },
  "post /v1/automations/{automationId}/backtests": { prepare: createAutomation, body: {} },
  "post /v1/automations/{automationId}/webhook-keys": { prepare: createAutomation, body: {} },
  "delete /v1/automations/{automationId}/webhook-keys/{keyId}": { prepare: createAutomation },
  "put /v1/automations/{automationId}/memories/{name}": { prepare: createAutomation, body: { text: "v" } },
  "delete /v1/automations/{automationId}/memories/{name}": { prepare: createMemory },
  "post /v1/agents/{id}/subscriptions": { prepare: create, body: timer },
  "delete /v1/agents/{id}/subscriptions/{subscriptionId}": { prepare: createSubscription },
  "post /v0/agents": { body: { prompt, source: { repository: "https://nowhere.invalid/o/r" } } },
  "post /v0/agents/{id}/followup": { prepare: createFinished, body: { prompt } },
  "post /v0/agents/{id}/stop": { prepare: create },
  "delete /v0/agents/{id}": { prepare: create },
};

/** A model request spends money, counted in a separate table. Typing needs a machine; a test of previews has its entry. */
/** Nothing but what the user has read. */
const marksItems = "patch /v1/me/inbox";
/** Nothing but what one browser receives while its session lasts. */
const ofBrowser = ["put /v1/me/push", "delete /v1/me/push"];
const changesNothing = [
  ...ofBrowser,
  "post /v1/automations/{automationId}/dry-run",
  "post /v1/inference/responses",
  "post /v1/agents/{id}/terminals/{name}/input",
  marksItems,
];

/** They need runs that have ended; the tests of runs have their entries. */
const ofEndedRuns = ["post /v1/agents/{id}/fork", "post /v1/agents/{id}/pull-requests"];

/** They take no key; the tests of invitations and of keys have their entries. */
const ofSessions = [
  "post /v1/members/{memberId}/login-link",
  "post /v1/invitations",
  "post /v1/keys",
  "post /v1/keys/{keyId}/rotate",
  "delete /v1/me/sessions/{sessionId}",
];

/** They take keys of service accounts; the test of their routes has their entries. */
const isOfAccounts = (route: string): boolean =>
  /^\w+ \/(v0\/private-workers|v1\/(workers|pools|sub-tokens))/.test(route);

interface Operations {
  paths: Record<string, Record<string, unknown>>;
}

async function changingRoutes(): Promise<string[]> {
  const { paths } = JSON.parse((await call("GET", "/openapi.json")).bytes.toString()) as Operations;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (method === "get" ? [] : [`${method} ${path}`])),
  );
}

const headSeq = async (): Promise<number> =>
  (await server.platform.db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq;

test("every route that changes something is listed here and leaves an audit entry with its actor", async () => {
  const routes = await changingRoutes();
  expect(
    routes
      .filter((route) => ![...changesNothing, ...ofSessions, ...ofEndedRuns].includes(route) && !isOfAccounts(route))
      .toSorted(),
  ).toEqual(Object.keys(requests).toSorted());
  for (const [route, { prepare = async () => ({}), query = "", body }] of Object.entries(requests)) {
    const { agentId, ...targets }: Partial<Targets> = await prepare();
    const ids: Record<string, string | undefined> = { id: agentId, name: secretName, ...targets };
    const [method = "", path = ""] = route.split(" ");
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? expect.fail(`what is {${name}}?`));
    const before = await headSeq();
    const response = await call(method.toUpperCase(), `${target}${query}`, body);
    expect([200, 201, 204], `${route}: ${response.bytes}`).toContain(response.status);
    const entries = await server.platform.db
      .selectFrom("audit_entries")
      .select("entry")
      .where("seq", ">", before)
      .execute();
    const actors = entries.map(({ entry }) => JSON.parse(entry).actor);
    expect(actors, route).toContain("user:1");
  }
});

const withoutAuditEntry = [
  "serve",
  "migrate",
  "keys list",
  "users list",
  "teams list",
  "credentials list",
  "secrets list",
  "egress why",
  "invitations list",
  "signing-key",
  "doctor",
  "models",
  // They concern files and processes of this host, and read no database.
  "image build",
  "image list",
  "machines list",
  "machines stop",
];
const auditReaders = ["audit verify", "audit export"];
const environmentReaders = ["env list", "env logs", "env diff"];
const automationReaders = ["list", "show", "firings", "alerts", "plan", "export"].map((name) => `automations ${name}`);
/** They wait for a server that builds, or starts the run; the entry is that of the server. */
const onServers = ["env build", "env verify", "automations run", "automations backtest"];

test("every command that changes something is listed here and leaves an audit entry of the operator", async () => {
  const [database, restored, folder] = [await freshDatabase(), await emptyDatabase(), await temporaryDirectory()];
  onTestFinished(async () => {
    await database.close();
    await restored.close();
    await folder.remove();
  });
  const secret = join(folder.path, "passphrase");
  writeFileSync(secret, "correct horse battery staple\n");
  const token = join(folder.path, "token");
  writeFileSync(token, "one-token\n");
  const dotenv = join(folder.path, "dotenv");
  writeFileSync(dotenv, "IMPORTED=value\n");
  const sealed = ["--passphrase-file", secret];
  let printed = "";
  const perform = async (name: string, args: string[], target = database, data = join(folder.path, "data")) => {
    const line = parseCommandLine([...name.split(" "), ...args, "--data", data], syntax);
    if (line.kind !== "command") throw new Error(`${name} is not a command`);
    const code = await (await line.command.load()).run(line.invocation, {
      variables: { PATH: process.env.PATH, DATABASE_URL: target.url },
      userHome: folder.path,
      cwd: folder.path,
      directory: folder.path,
      readInput: async () => "",
      print(text) {
        printed = text;
      },
      log: silentLog,
      signal: new AbortController().signal,
    });
    expect(code, name).toBe(0);
  };
  const printedKeyId = () => /plt_([^_]+)_/.exec(printed)?.[1] ?? expect.fail(`no key: ${printed}`);
  const argumentsOf: Record<string, () => string[] | Promise<string[]>> = {
    "keys create": () => ["--name", "ci"],
    "keys rotate": () => [printedKeyId()],
    "keys revoke": () => [printedKeyId()],
    "repos create": () => ["sample"],
    "login-link": () => {
      announceServer(join(folder.path, "data"), { url: "http://127.0.0.1:1", roles: ["api"] });
      return [];
    },
    "credentials set": () => ["git.example.com", "--kind", "token", "--file", token],
    "credentials remove": () => ["git.example.com", "--kind", "token"],
    "secrets set": () => ["NPM_TOKEN", "--file", token],
    "secrets remove": () => ["NPM_TOKEN"],
    "secrets import": () => ["--file", dotenv],
    "teams create": () => ["red"],
    "teams set": () => ["red", "--spend-limit", "5"],
    "users create": () => ["ada@example.com", "--team", "red"],
    "users set": () => ["ada@example.com", "--spend-limit", "5"],
    "users invite": () => ["bob@example.com", "--team", "red"],
    "invitations revoke": async () => [
      (await database.db.selectFrom("invitations").select("id").executeTakeFirstOrThrow()).id,
    ],
    "users end-sessions": async () => {
      const users = database.db.selectFrom("users").select("id").where("email", "=", "ada@example.com");
      await openSessions(database.db, () => new Date()).begin((await users.executeTakeFirstOrThrow()).id, "link");
      return ["ada@example.com"];
    },
    "users remove": async () => {
      await perform("users create", ["eve@example.com", "--team", "red"]);
      return ["eve@example.com"];
    },
    "env activate": async () => {
      const { id } = await database.db.selectFrom("teams").select("id").limit(1).executeTakeFirstOrThrow();
      return [await insertSucceededBuild(database.db, id)];
    },
    "automations apply": () => {
      const prompt = 'prompt: { text: "tidy up" }\ntriggers: [{ type: webhook }]';
      writeFileSync(join(folder.path, "tidy.yaml"), `name: tidy\nscope: team_owned\n${prompt}\n`);
      return [".", "--team", "red"];
    },
    "automations disable": () => insertAutomation(database.db),
    "automations enable": () => ["nightly"],
    backup: () => [join(folder.path, "backup"), ...sealed],
    "rotate-kek": () => [],
    restore: () => [join(folder.path, "backup"), ...sealed],
  };
  const names = commands.map(({ path }) => path.join(" "));
  const others = [...withoutAuditEntry, ...auditReaders, ...environmentReaders, ...automationReaders, ...onServers];
  expect([...Object.keys(argumentsOf), ...others].toSorted()).toEqual(names.toSorted());
  for (const [name, readArguments] of Object.entries(argumentsOf)) {
    const isRestore = name === "restore";
    const { db } = isRestore ? restored : database;
    const args = await readArguments();
    const head = isRestore ? 0 : (await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq;
    await (isRestore ? perform(name, args, restored, join(folder.path, "elsewhere")) : perform(name, args));
    const entries = await db.selectFrom("audit_entries").select("entry").where("seq", ">", head).execute();
    const events = entries.map(({ entry }) => JSON.parse(entry));
    const actors = events.map(({ actor }) => actor);
    expect(actors, name).toContain("operator");
    if (isRestore) expect(events.at(-1)?.action).toMatch(/restore/);
  }
});

/** Returns its name. */
async function insertAutomation(db: Kysely<Tables>): Promise<string[]> {
  const { id: teamId } = await db.selectFrom("teams").select("id").limit(1).executeTakeFirstOrThrow();
  const row = {
    id: `auto-${randomUUID()}`,
    team_id: teamId,
    user_id: null,
    scope: "team_owned",
    name: "nightly",
  } as const;
  const definition = Buffer.from("sealed");
  await db
    .insertInto("automations")
    .values({ ...row, definition, missed: "skip", enabled: true })
    .execute();
  return ["nightly"];
}

/** Returns its id. */
async function insertSucceededBuild(db: Kysely<Tables>, teamId: number): Promise<string> {
  const [environmentId, versionId, now] = [randomUUID(), randomUUID(), new Date()];
  const buildId = `bld-20300101-${randomUUID()}`;
  await db.transaction().execute(async (tx) => {
    const stamps = { created_at: now, updated_at: now };
    const environment = { id: environmentId, team_id: teamId, user_id: null, name: "shop", repos: "[]" };
    await tx
      .insertInto("environments")
      .values({ ...environment, version_id: versionId, next_build_at: now, ...stamps })
      .execute();
    const title = { title: "Created", description: "", kind: "created", source: "api" } as const;
    const config = Buffer.from("sealed");
    const version = { id: versionId, environment_id: environmentId, number: 1, ...title, config, created_at: now };
    await tx.insertInto("environment_versions").values(version).execute();
    const build = { id: buildId, environment_id: environmentId, version_id: versionId, draft: false, commits: "[]" };
    await tx
      .insertInto("environment_builds")
      .values({ ...build, status: "SUCCEEDED", trigger: "MANUAL", ...stamps })
      .execute();
  });
  return buildId;
}
