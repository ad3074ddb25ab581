// Every operation of the document with every kind of sender: each is done or refused as the facts say, and a refused one
// has changed nothing.

import { randomUUID } from "node:crypto";
import { eventually } from "@agentcli/testkit";
import {
  type ApiResponse,
  openClient,
  type RunIds,
  type ServedPlatform,
  sendRequest,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { type Expected, expected, type Row, rows } from "./auth-facts.ts";
import { createKeys, createSenders, type OwnerKeys, type RequestSender } from "./auth-senders.ts";

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  "x-scope"?: string;
  "x-sharing"?: string;
  security: Record<string, string[]>[];
  responses: Record<string, unknown>;
}

interface Asked {
  name: string;
  method: string;
  path: string;
  row: Row;
  success: number;
}

const word = "a-word-of-the-first-team";

test("every operation is done for authorized senders and refused for all others", { timeout: 480_000 }, async () => {
  const world = await furnish();
  const asked = operationsOf(await readDocument(world.platform));
  const found: Cell[] = [];
  const wrong: string[] = [];
  // Refused requests first, while nothing else changes state.
  for (const operation of asked) {
    const before = await stateOf(world.platform);
    for (const [who, sender] of Object.entries(world.senders))
      if (expectedOf(operation, sender) !== "done") found.push(await attempt(world, operation, who));
    const after = await stateOf(world.platform);
    for (const table of Object.keys(before))
      if (after[table] !== before[table]) wrong.push(`${operation.name}, refused, has changed ${table}`);
  }
  for (const operation of asked)
    for (const [who, sender] of Object.entries(world.senders))
      if (expectedOf(operation, sender) === "done") found.push(await attempt(world, operation, who));
  expect(found.length).toBe(asked.length * Object.keys(world.senders).length);
  wrong.push(...found.filter(({ isRight }) => !isRight).map(complaint));
  if (wrong.length > 0) expect.fail(`${wrong.join("\n")}\n\n${shown(asked, world, found)}`);
});

test("the document agrees with the facts about each operation", async () => {
  const platform = await servePlatformForTest();
  const { paths } = await readDocument(platform);
  for (const { name, path, method, row } of operationsOf({ paths })) {
    const operation = paths[path]?.[method] ?? expect.fail(name);
    const { "x-scope": scope = null, "x-sharing": sharing = null, security } = operation;
    const needed = row.scope === null ? [] : [row.scope];
    const session = method === "get" ? { session: needed } : { session: needed, csrf: [] };
    expect({ name, scope, sharing, security }).toEqual({
      name,
      scope: row.scope,
      sharing: row.sharing,
      security: [{ bearer: needed }, { basic: needed }, session],
    });
  }
});

const readDocument = async ({ server }: ServedPlatform): Promise<Document> =>
  (await sendRequest(server.url, { method: "GET", path: "/openapi.json" })).body as Document;

function operationsOf({ paths }: Document): Asked[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      name: `${method} ${path}`,
      method,
      path,
      row: rows[`${method} ${path}`],
      success: Number(Object.keys(responses).find((status) => status.startsWith("2"))),
    })),
  );
  const names = operations.map(({ name }) => name).sort();
  expect(names, "auth-facts.ts has a line for each operation and for nothing else").toEqual(Object.keys(rows).sort());
  // Last, since later operations would miss an agent deleted by mistake.
  const isLast = ({ method }: { method: string }) => Number(method === "delete");
  return (operations as Asked[]).sort((left, right) => isLast(left) - isLast(right));
}

const expectedOf = ({ method, row }: Asked, sender: RequestSender): Expected => expected(method, row, sender);

interface Target extends RunIds {
  deliveryId: string;
}

interface World {
  platform: ServedPlatform;
  keys: OwnerKeys;
  senders: Record<string, RequestSender>;
  /** One of a user, and one of a service account. */
  idle: Record<"user" | "account", Target>;
  atWork: Record<"user" | "account", Target>;
  repositories: Record<"own" | "theirs", string>;
  /** Personal, of the user. */
  environment: EnvironmentTarget;
  /** Private, of the user. */
  automation: AutomationTarget;
}

interface AutomationTarget {
  automationId: string;
  keyId: string;
}

interface EnvironmentTarget {
  environmentId: string;
  buildId: string;
}

async function furnish(): Promise<World> {
  const leaves = `echo ${word} > "$PLATFORM_ARTIFACTS_DIR/left.txt"`;
  const platform = await servePlatformForTest({
    env: { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" },
    replies: {
      replies: [
        { calls: [{ name: "exec_command", arguments: { cmd: "sleep 600" } }], when: { bodyIncludes: "stay at work" } },
        { messages: ["done"], when: { bodyIncludes: "left.txt" } },
        { calls: [{ name: "exec_command", arguments: { cmd: leaves } }], when: { bodyIncludes: "leave a file" } },
        { messages: ["done"] },
      ],
      repeat: "always",
    },
  });
  const keys = await createKeys(platform);
  const senders = await createSenders(platform, keys);
  const world = { platform, keys, senders };
  const readme = { "README.md": "# Sample\n" };
  return {
    ...world,
    idle: { user: await idleAgent(world, "user"), account: await idleAgent(world, "account") },
    atWork: { user: await busyAgent(world, "user"), account: await busyAgent(world, "account") },
    environment: await newEnvironment(world, "FAILED"),
    automation: await newAutomation(world),
    repositories: {
      own: await platform.repository("sample", readme),
      theirs: await platform.repository("theirs", readme, "--team", "strangers"),
    },
  };
}

type Owned = Pick<World, "platform" | "keys">;

/** Its first run has ended, left a file, and had a webhook. */
async function idleAgent({ platform, keys }: Owned, owner: "user" | "account"): Promise<Target> {
  const client = openClient(platform.server.url, keys[owner]);
  const webhook = { url: "http://127.0.0.1:9/unused" };
  const made = await client.create("leave a file", { name: word, webhook });
  expect(await client.waitForRun(made)).toMatchObject({ status: "FINISHED" });
  const { body } = await client.get(`/v1/agents/${made.agentId}/webhooks/deliveries`);
  return { ...made, deliveryId: (body as { items: { id: string }[] }).items[0]?.id ?? expect.fail("no delivery") };
}

async function busyAgent({ platform, keys }: Owned, owner: "user" | "account"): Promise<Target> {
  const client = openClient(platform.server.url, keys[owner]);
  const made = await client.create("stay at work", { name: word });
  const isRunning = async () =>
    (await client.get(`/v1/agents/${made.agentId}/runs/${made.runId}`)).text.includes('"RUNNING"');
  await eventually(isRunning);
  return { ...made, deliveryId: "none" };
}

/** Its first build is left in that state. */
async function newEnvironment({ platform, keys }: Owned, state: BuildState): Promise<EnvironmentTarget> {
  const client = openClient(platform.server.url, keys.user);
  const body = { owner: "personal", name: `${word} ${randomUUID()}`, repos: [], environmentJson: "{}" };
  const { id } = (await client.post("/v1/environments", body)).body as { id: string };
  const readBuild = async () => {
    const { items } = await client.getJson<{ items: { id: string; status: string }[] }>(
      `/v1/environments/${id}/builds`,
    );
    return items[0] ?? expect.fail("no build");
  };
  await eventually(async () => ["FAILED", "SUCCEEDED"].includes((await readBuild()).status));
  const lease = state === "IN_PROGRESS" ? "infinity" : null;
  const status = state === "DRAFT" ? "SUCCEEDED" : state;
  await platform.harness.database.query(
    "update environment_builds set status = $1, draft = $2, lease_owner = 'another', lease_until = $3 where environment_id = $4",
    [status, state === "DRAFT", lease, id],
  );
  return { environmentId: id, buildId: (await readBuild()).id };
}

type BuildState = "FAILED" | "SUCCEEDED" | "IN_PROGRESS" | "DRAFT";

/** A request that will change its environment gets a new one. */
async function environmentOf(world: World, { name, method }: Asked, wanted: Expected): Promise<EnvironmentTarget> {
  const isKept = method === "get" || name.endsWith("/secrets/{name}");
  if (wanted !== "done" || isKept || !name.includes("{environmentId}")) return world.environment;
  return newEnvironment(world, statesBefore[name.split("/").at(-1) ?? ""] ?? "FAILED");
}

/** What a build has to be for the request to work. */
const statesBefore: Record<string, BuildState> = { activate: "SUCCEEDED", discard: "DRAFT", cancel: "IN_PROGRESS" };

async function newAutomation({ platform, keys }: Owned): Promise<AutomationTarget> {
  const client = openClient(platform.server.url, keys.user);
  const body = { name: `${word} ${randomUUID()}`, prompt: { text: word }, triggers: [{ type: "webhook" }] };
  const { id } = (await client.post("/v1/automations", body)).body as { id: string };
  const key = (await client.post(`/v1/automations/${id}/webhook-keys`)).body as { id: string };
  return { automationId: id, keyId: key.id };
}

/** A request that will change its automation gets a new one. */
const automationOf = (world: World, { name, method }: Asked, wanted: Expected): Promise<AutomationTarget> =>
  wanted !== "done" || method === "get" || !name.includes("{automationId}")
    ? Promise.resolve(world.automation)
    : newAutomation(world);

interface Cell {
  name: string;
  who: string;
  wanted: Expected;
  answer: ApiResponse;
  isRight: boolean;
}

async function attempt(world: World, operation: Asked, who: string): Promise<Cell> {
  const sender = world.senders[who] ?? expect.fail(`no sender ${who}`);
  const wanted = expectedOf(operation, sender);
  const { method, path, row, success, name } = operation;
  const { deliveryId, agentId, runId } = await targetOf(world, operation, sender, wanted);
  const environment = await environmentOf(world, operation, wanted);
  const automation = await automationOf(world, operation, wanted);
  const others = {
    sourceId: randomUUID(),
    subscriptionId: `sub-${randomUUID()}`,
    backtestId: `test-${randomUUID()}`,
    firingId: `fire-${randomUUID()}`,
    workerId: "w1",
    memberId: "0",
    invitationId: "none",
    sessionId: "none",
    subagentId: "none",
    host: "git.example.com",
    number: "1",
    commit: "0".repeat(40),
  };
  const targets = { ...environment, ...automation, ...others };
  const ids: Record<string, string> = { id: agentId, runId, deliveryId, name: "A_SECRET", ...targets };
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? expect.fail(`what is {${key}}?`));
  const repository = world.repositories[sender.is === "of another team" ? "theirs" : "own"];
  const body = row.body?.({ repository });
  if (wanted === "done" && path.endsWith("/secrets/{name}")) await setSecret(world, sender, filled);
  const answer = await sendRequest(world.platform.server.url, {
    method: method.toUpperCase(),
    path: `${filled}${row.query ?? ""}`,
    headers: { ...sender.headers(row.scope), ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const isSecret = wanted !== "done" || sender.is === "of another team";
  const isDisclosed = isSecret && [word, world.idle.user.runId].some((text) => answer.text.includes(text));
  return {
    name,
    who,
    wanted,
    answer,
    isRight: answer.status === (wanted === "done" ? (row.status ?? success) : wanted) && !isDisclosed,
  };
}

/** So that it is there to be changed or removed. */
async function setSecret({ platform }: World, sender: RequestSender, path: string): Promise<void> {
  const headers = { ...sender.headers("agents:write"), "content-type": "application/json" };
  await sendRequest(platform.server.url, { method: "PUT", path, headers, body: JSON.stringify({ value: "v" }) });
}

/** A request that will change its agent gets a new one. */
async function targetOf(world: World, { row, name }: Asked, sender: RequestSender, wanted: Expected): Promise<Target> {
  const { asksFor } = sender;
  const isBusy = row.state === "at work";
  const isSpent =
    wanted === "done" && ["follow_up", "manage"].includes(row.sharing ?? "") && !name.endsWith("/redeliver");
  if (!isSpent) return (isBusy ? world.atWork : world.idle)[asksFor];
  return isBusy ? busyAgent(world, asksFor) : idleAgent(world, asksFor);
}

/** Digests of all tables with user data, without columns that servers update on their own. */
async function stateOf({ harness }: ServedPlatform): Promise<Record<string, string | undefined>> {
  const own: Record<string, string> = {
    teams: "",
    users: "",
    service_accounts: "",
    api_keys: "last_used_at",
    sessions: "last_seen_at expires_at",
    agents: "",
    runs: `lease_owner lease_epoch lease_until updated_at cost_usd input_tokens output_tokens cache_read_tokens
      cache_write_tokens reasoning_tokens`,
    webhooks: "",
    webhook_deliveries: "attempts next_attempt_at queued_at status body",
    idempotent_answers: "",
    artifacts: "",
    inference_calls: "",
    source_accounts: "",
    source_credentials: "",
    hosted_repositories: "",
    environments: "",
    environment_versions: "",
    environment_builds: "lease_owner lease_epoch lease_until updated_at",
    secrets: "",
    automations: "",
    automation_triggers: "",
    automation_webhook_keys: "",
    automation_firings: "run_status",
    event_sources: "",
    automation_memories: "",
    automation_backtests: "items",
    automation_proposals: "",
    subscriptions: "",
    worker_pools: "",
    worker_claims: "",
    worker_tokens: "",
    audit_head: "",
  };
  const read = async ([table, without]: [string, string]) => {
    const row = "(to_jsonb(t) - regexp_split_to_array($1, '\\s+'))::text";
    const rows = await harness.database.query<{ digest: string }>(
      `select md5(string_agg(${row}, '|' order by ${row})) as digest from "${table}" as t`,
      [without],
    );
    return [table, rows[0]?.digest];
  };
  return Object.fromEntries(await Promise.all(Object.entries(own).map(read)));
}

const complaint = ({ name, who, wanted, answer }: Cell): string =>
  `${name}, ${who}: ${answer.status} instead of ${wanted}: ${answer.text.slice(0, 200)}`;

/** One line per operation, one column per sender; wrong results are marked. */
function shown(asked: Asked[], { senders }: World, found: Cell[]): string {
  const names = Object.keys(senders);
  const legend = names.map((name, index) => `${index + 1} ${name}`).join(", ");
  const lines = asked.map(({ name }) => {
    const cells = names.map((who) => found.find((cell) => cell.name === name && cell.who === who));
    return `${cells.map((cell) => `${cell?.answer.status ?? "-"}${cell?.isRight ? " " : "!"}`).join(" ")} ${name}`;
  });
  return [legend, names.map((_, index) => String(index + 1).padEnd(4)).join(" "), ...lines].join("\n");
}
