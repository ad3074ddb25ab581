// Whatever changes something leaves an entry in the audit log, with whoever asked for it: each route of the API's document,
// and each command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parseCommandLine } from "../src/args.ts";
import { commands } from "../src/commands.ts";
import { announceServer } from "../src/server-file.ts";
import { openSessions } from "../src/sessions/index.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { openClient } from "./client.ts";
import { emptyDatabase, freshDatabase } from "./database.ts";
import { type TestServer, testServer } from "./platform.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  // Nothing but what is asked for happens: nobody drives runs.
  server = await testServer({ roles: ["api"], allowPrivate: ["127.0.0.0/8"] });
  key = await server.key();
});
afterAll(() => server.close());

const prompt = { text: "go" };
const call = (method: string, path: string, body?: unknown) => openClient(server.url, key).send(method, path, body);

interface Made {
  agentId: string;
  runId: string;
}

async function create(): Promise<Made> {
  const webhook = { url: "http://127.0.0.1:9/", secret: "s".repeat(32) };
  return openClient(server.url, key).create({ prompt, webhook });
}

async function createAtRest(): Promise<Made> {
  const made = await create();
  await server.platform.db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", made.runId).execute();
  return made;
}

async function createArchived(): Promise<Made> {
  const made = await create();
  await call("POST", `/v1/agents/${made.agentId}/archive`);
  return made;
}

async function createDelivered(): Promise<Made & { deliveryId: string }> {
  const made = await createAtRest();
  const deliveryId = `wh_${made.runId}`;
  await server.platform.db
    .insertInto("webhook_deliveries")
    .values({ id: deliveryId, agent_id: made.agentId, run_id: made.runId, status: "dead" })
    .execute();
  return { ...made, deliveryId };
}

/** How each is asked so that something changes. A route that is not here must be added, or named as one that changes nothing. */
const ways: Record<string, { given?: () => Promise<Partial<Made & { deliveryId: string }>>; body?: object }> = {
  "post /v1/agents": { body: { prompt } },
  "post /v1/agents/{id}/archive": { given: create },
  "post /v1/agents/{id}/unarchive": { given: createArchived },
  "delete /v1/agents/{id}": { given: create },
  "post /v1/agents/{id}/runs": { given: createAtRest, body: { prompt } },
  "post /v1/agents/{id}/runs/{runId}/cancel": { given: create },
  "post /v1/agents/{id}/webhooks/deliveries/{deliveryId}/redeliver": { given: createDelivered },
  "post /v0/agents": { body: { prompt, source: { repository: "https://nowhere.invalid/o/r" } } },
  "post /v0/agents/{id}/followup": { given: createAtRest, body: { prompt } },
  "post /v0/agents/{id}/stop": { given: create },
  "delete /v0/agents/{id}": { given: create },
};

/** Asking a model spends, and that is counted in a table of its own; nothing that people own changes. */
const changesNothing = ["post /v1/inference/responses"];

interface Operations {
  paths: Record<string, Record<string, unknown>>;
}

async function changingRoutes(): Promise<string[]> {
  const { paths } = JSON.parse((await call("GET", "/openapi.json")).body.toString()) as Operations;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (method === "get" ? [] : [`${method} ${path}`])),
  );
}

const seqOf = async (): Promise<number> =>
  (await server.platform.db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq;

test("each route that changes something is known here, and leaves an entry that names who asked", async () => {
  const routes = await changingRoutes();
  expect(routes.filter((route) => !changesNothing.includes(route)).toSorted()).toEqual(Object.keys(ways).toSorted());
  for (const [route, { given = async () => ({}), body }] of Object.entries(ways)) {
    const { agentId = "", runId = "", deliveryId = "" }: Partial<Made & { deliveryId: string }> = await given();
    const [method = "", path = ""] = route.split(" ");
    const target = path.replace("{id}", agentId).replace("{runId}", runId).replace("{deliveryId}", deliveryId);
    const before = await seqOf();
    const answer = await call(method.toUpperCase(), target, body);
    expect(answer.status, `${route}: ${answer.body}`).toBe(200);
    const entries = await server.platform.db
      .selectFrom("audit_entries")
      .select("entry")
      .where("seq", ">", before)
      .execute();
    const actors = entries.map(({ entry }) => JSON.parse(entry).actor);
    expect(actors, route).toContain("user:1");
  }
});

const onlyLook = [
  "serve",
  "migrate",
  "keys list",
  "users list",
  "teams list",
  "invitations list",
  "signing-key",
  "doctor",
];
const onlyRead = ["audit verify", "audit export"];

test("each command that changes something is known here, and leaves an entry of the operator's", async () => {
  const [database, elsewhere, folder] = [await freshDatabase(), await emptyDatabase(), await temporaryDirectory()];
  onTestFinished(async () => {
    await database.close();
    await elsewhere.close();
    await folder.remove();
  });
  const secret = join(folder.path, "passphrase");
  writeFileSync(secret, "correct horse battery staple\n");
  const sealed = ["--passphrase-file", secret];
  let printed = "";
  const perform = async (name: string, args: string[], place = database, data = join(folder.path, "data")) => {
    const line = parseCommandLine([...name.split(" "), ...args, "--data", data]);
    if (line.kind !== "command") throw new Error(`${name} is no command`);
    const code = await (await line.command.load()).run(line.invocation, {
      variables: { PATH: process.env.PATH, DATABASE_URL: place.url },
      userHome: folder.path,
      cwd: folder.path,
      directory: folder.path,
      print(text) {
        printed = text;
      },
      log: silentLog,
      signal: new AbortController().signal,
    });
    expect(code, name).toBe(0);
  };
  const madeKey = () => /plt_([^_]+)_/.exec(printed)?.[1] ?? expect.fail(`no key: ${printed}`);
  const ways: Record<string, () => string[] | Promise<string[]>> = {
    "keys create": () => ["--name", "ci"],
    "keys rotate": () => [madeKey()],
    "keys revoke": () => [madeKey()],
    "repos create": () => ["sample"],
    "login-link": () => {
      announceServer(join(folder.path, "data"), "http://127.0.0.1:1");
      return [];
    },
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
    backup: () => [join(folder.path, "backup"), ...sealed],
    "rotate-kek": () => [],
    restore: () => [join(folder.path, "backup"), ...sealed],
  };
  const names = commands.map(({ path }) => path.join(" "));
  expect([...Object.keys(ways), ...onlyLook, ...onlyRead].toSorted()).toEqual(names.toSorted());
  for (const [name, argsOf] of Object.entries(ways)) {
    const isRestore = name === "restore";
    const { db } = isRestore ? elsewhere : database;
    const args = await argsOf();
    const head = isRestore ? 0 : (await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow()).seq;
    await (isRestore ? perform(name, args, elsewhere, join(folder.path, "elsewhere")) : perform(name, args));
    const entries = await db.selectFrom("audit_entries").select("entry").where("seq", ">", head).execute();
    const told = entries.map(({ entry }) => JSON.parse(entry));
    const actors = told.map(({ actor }) => actor);
    expect(actors, name).toContain("operator");
    if (isRestore) expect(told.at(-1)?.action).toMatch(/restore/);
  }
});
