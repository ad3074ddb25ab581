// A team sees and changes only its own data. For all others it does not exist, with any request and any key.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { eventually } from "@agentcli/testkit";
import {
  type ApiResponse,
  openClient,
  type PlatformClient,
  type RunIds,
  type ServedPlatform,
  sendRequest,
  servePlatformForFile,
} from "@agentcli/testkit/platform";
import { beforeAll, expect, test } from "vitest";
import type { Document } from "./openapi-requests.ts";

const secret = "a-word-only-the-first-team-knows";

const writesBoth = `echo ${secret} > left.txt && cp left.txt "$PLATFORM_ARTIFACTS_DIR/left.txt"`;

const shared = servePlatformForFile({
  replies: {
    replies: [
      // A command of which the model got the result is part of the request.
      { messages: ["done"], when: { bodyIncludes: "PLATFORM_ARTIFACTS_DIR/left.txt" } },
      { calls: [{ name: "exec_command", arguments: { cmd: writesBoth } }], when: { bodyIncludes: "write it" } },
      { messages: ["done"] },
    ],
    repeat: "always",
  },
});

let platform: ServedPlatform;
let owner: PlatformClient;
/** Its run has ended. */
let made: RunIds;
/** Of the owner's team, with a pull request. */
let repository: string;
beforeAll(async () => {
  platform = shared();
  owner = await platform.client();
  repository = await platform.repository("sample", { "README.md": `# ${secret}\n` });
  made = await owner.create("write it", { name: secret, repos: [{ url: repository }], autoCreatePR: true });
  expect(await owner.waitForRun(made)).toMatchObject({
    status: "FINISHED",
    git: { branches: [{ prUrl: expect.any(String) }] },
  });
});

let teams = 0;
/** Of another team, without agents. */
const newStranger = (): Promise<PlatformClient> => {
  teams += 1;
  return platform.client("--team", `strangers-${teams}`);
};

test("every route of the document reports agents and runs of another team as not found", async () => {
  const stranger = await newStranger();
  const own = await stranger.create("mine");
  await stranger.waitForRun(own);
  const before = await everythingOf(owner, made);
  const { paths } = (await owner.get("/openapi.json")).body as Document;
  const tried: string[] = [];
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods))
      for (const ids of strangeIds(path, made, own)) {
        const answer = await attempt(stranger, method, ids, paths[path]?.[method]?.requestBody !== undefined);
        expect({ path: ids, status: answer.status, shown: answer.text.includes(secret) }, answer.text).toEqual({
          path: ids,
          status: 404,
          shown: false,
        });
        tried.push(`${method} ${path}`);
      }
  const ofAgents = Object.entries(paths).filter(([path]) => path.includes("{id}") && !isOfAccounts(path));
  expect(new Set(tried).size).toBe(ofAgents.flatMap(([, methods]) => Object.keys(methods)).length);
  expect(await everythingOf(owner, made)).toEqual(before);
});

/** Workers and pools take keys of service accounts; their own tests have those of other teams. */
const isOfAccounts = (path: string): boolean => /^\/(v0\/private-workers|v1\/(workers|pools|sub-tokens))/.test(path);

/** The agent of the other team, its run, and its run below an own agent. */
function strangeIds(path: string, made: RunIds, own: RunIds): string[] {
  if (!path.includes("{id}") || isOfAccounts(path)) return [];
  const fill = (id: string, runId: string) => path.replace("{id}", id).replace("{runId}", runId);
  const folder = path.startsWith("/v0/") ? "/opt/platform/artifacts" : "artifacts";
  const query = path.endsWith("/download") ? `?path=${folder}/left.txt` : "";
  const whole = `${fill(made.agentId, made.runId)}${query}`;
  if (path.endsWith("/usage")) return [whole, `${fill(own.agentId, "")}?runId=${made.runId}`];
  return path.includes("{runId}") ? [whole, fill(own.agentId, made.runId), fill(made.agentId, own.runId)] : [whole];
}

const attempt = (client: PlatformClient, method: string, path: string, hasBody: boolean): Promise<ApiResponse> =>
  sendRequest(client.url, {
    method: method.toUpperCase(),
    path,
    headers: { authorization: `Bearer ${client.key}`, ...(hasBody && { "content-type": "application/json" }) },
    ...(hasBody && { body: JSON.stringify(bodyFor(path)) }),
  });

/** A valid one: an invalid one would be refused before the agent is looked for. */
function bodyFor(path: string): object {
  if (path.endsWith("/input") || path.endsWith("/messages")) return { text: "let me in" };
  if (path.endsWith("/subscriptions")) return { filter: { source: "timer", delaySeconds: 86_400 } };
  return { prompt: { text: "let me in" } };
}

async function everythingOf(client: PlatformClient, { agentId, runId }: RunIds): Promise<unknown[]> {
  const paths = ["", "/runs", `/runs/${runId}`, "/artifacts", "/usage"].map((rest) => `/v1/agents/${agentId}${rest}`);
  const answers = await Promise.all(["/v1/agents", ...paths].map((path) => client.get(path)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  return answers.map(({ body }) => body);
}

test("lists, filters, cursors and names of one team show another team nothing", async () => {
  const stranger = await newStranger();
  const run = (await owner.get(`/v1/agents/${made.agentId}/runs/${made.runId}`)).text;
  const prUrl = /"prUrl":"([^"]+)"/.exec(run)?.[1] ?? expect.fail("no pull request");
  await owner.waitForRun(await owner.create("another"));
  const { nextCursor } = (await owner.get("/v1/agents?limit=1")).body as { nextCursor: string };
  for (const query of ["", `?cursor=${nextCursor}`, `?prUrl=${encodeURIComponent(prUrl)}`])
    expect((await stranger.get(`/v1/agents${query}`)).body).toEqual({ items: [] });
  expect((await stranger.get("/v1/repositories")).body).toEqual({ items: [] });
  expect((await owner.get("/v1/repositories")).body).toEqual({ items: [{ url: repository }] });
  const refused = await stranger.post("/v1/agents", { prompt: { text: "x" }, repos: [{ url: repository }] });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "repository_access" } } });
  const taken = await stranger.post("/v1/agents", { prompt: { text: "x" }, agentId: made.agentId });
  expect(taken).toMatchObject({ status: 409, body: { error: { code: "agent_id_conflict" } } });
  // As for an id of the own team: it does not tell whose agent it is.
  const own = await owner.post("/v1/agents", { prompt: { text: "x" }, agentId: made.agentId });
  expect(taken.body).toEqual(own.body);
  expect((await stranger.get("/v1/agents")).body).toEqual({ items: [] });
});

test("one team's Idempotency-Key is not another's", async () => {
  const stranger = await newStranger();
  const key = { "idempotency-key": "the-same" };
  const body = { prompt: { text: "x" } };
  const [first, second] = [await owner.post("/v1/agents", body, key), await stranger.post("/v1/agents", body, key)];
  expect([first.status, second.status]).toEqual([200, 200]);
  const idOf = ({ body: answered }: ApiResponse) => (answered as { agent: { id: string } }).agent.id;
  expect(idOf(first)).not.toBe(idOf(second));
});

test("a repository of another team cannot be fetched, pushed to, or read through its pull requests", async () => {
  const stranger = await newStranger();
  const cloneAs = ({ key }: PlatformClient) =>
    git("ls-remote", repository.replace("http://", `http://x:${key}@`)).then(
      ({ stdout }) => stdout,
      ({ stderr }) => stderr as string,
    );
  expect(await cloneAs(owner)).toContain("refs/heads/main");
  expect(await cloneAs(stranger)).toMatch(/not found/i);
  const base = repository.replace(owner.url, "").replace(/\.git$/, "");
  const pull = `${base}/pulls/1`;
  const before = (await owner.get(pull)).body;
  expect(before).toMatchObject({ draft: true });
  for (const [method, path, body] of [
    ["GET", `${base}/pulls`],
    ["GET", pull],
    ["GET", `${pull}/diff`],
    ["GET", `${pull}/comments`],
    ["GET", `${pull}/reviews`],
    ["POST", `${base}/pulls`, { title: "x", head: "main" }],
    ["PATCH", pull, { title: "x", state: "closed" }],
    ["POST", `${pull}/merge`, {}],
    ["POST", `${pull}/comments`, { body: "x" }],
    ["POST", `${pull}/reviews`, { verdict: "approved" }],
    ["POST", `${pull}/labels`, { labels: ["x"] }],
    ["DELETE", `${pull}/labels/x`],
    ["GET", `${base}/statuses/${"1".repeat(40)}`],
    ["POST", `${base}/statuses/${"1".repeat(40)}`, { state: "success" }],
    ["GET", `${base}.git/info/refs?service=git-upload-pack`],
    ["GET", `${base}.git/info/refs?service=git-receive-pack`],
    ["POST", `${base}.git/git-upload-pack`, {}],
    ["POST", `${base}.git/git-receive-pack`, {}],
  ] as const) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${stranger.key}`, ...(body && { "content-type": "application/json" }) };
    const answer = await sendRequest(stranger.url, { method, path, headers, ...sent });
    expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
    expect(answer.text).not.toContain(secret);
    const unknown = await sendRequest(stranger.url, { method, path, ...sent });
    expect({ method, path, status: unknown.status }).toEqual({ method, path, status: 401 });
  }
  expect((await owner.get(pull)).body).toEqual(before);
  expect((await owner.get(`${pull}/comments`)).body).toEqual({ items: [] });
});

const git = (...args: string[]) =>
  promisify(execFile)("git", ["-c", "credential.helper=", ...args], {
    env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
  });

test("a link to an artifact opens only that artifact, and only unmodified", async () => {
  const [made, other] = [await owner.create("write it"), await owner.create("write it")];
  for (const ids of [made, other]) await owner.waitForRun(ids);
  const { body } = await owner.get(`/v1/agents/${made.agentId}/artifacts/download?path=artifacts/left.txt`);
  const { url } = body as { url: string };
  const path = url.replace(owner.url, "");
  const token = path.split("/").at(-1) ?? "";
  expect((await sendRequest(owner.url, { method: "GET", path })).text).toBe(`${secret}\n`);
  const flipped = `${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.at(-1)}`;
  for (const wrong of [
    `/artifacts/${made.agentId}/${flipped}`,
    `/artifacts/${made.agentId}/${token.slice(0, 20)}`,
    `/artifacts/${other.agentId}/${token}`,
    `/artifacts/nothing/${token}`,
    `/artifacts/${made.agentId}/`,
  ]) {
    const answer = await sendRequest(owner.url, { method: "GET", path: wrong });
    expect(answer).toMatchObject({ status: 404, body: { error: { message: expect.any(String) } } });
    expect(answer.text).not.toContain(secret);
  }
  await owner.delete(`/v1/agents/${made.agentId}`);
  expect(await sendRequest(owner.url, { method: "GET", path })).toMatchObject({ status: 404 });
});

test("pages need a login, show only the own team, and forms need the own CSRF token", async () => {
  const stranger = await newStranger();
  const theirs = await stranger.create("not for you");
  await stranger.waitForRun(theirs);
  const { stdout } = await platform.harness.run(["login-link"]);
  const link = new URL(stdout.trim());
  expect(
    (await sendRequest(owner.url, { method: "GET", path: `${link.pathname}${link.search}` })).headers["set-cookie"],
  ).toBe(undefined);
  const login = await sendRequest(owner.url, {
    method: "POST",
    path: link.pathname,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: link.search.slice(1),
  });
  const cookie = login.headers["set-cookie"]?.[0]?.split(";")[0] ?? expect.fail("no cookie");
  const visit = (path: string) => sendRequest(owner.url, { method: "GET", path, headers: { cookie } });
  expect(await visit(`/agents/${made.agentId}`)).toMatchObject({ status: 200 });
  const patch = await visit("/repositories/sample/pulls/1/diff");
  expect(patch).toMatchObject({ status: 200, text: expect.stringMatching(/^diff --git /) });
  expect(patch.headers["content-disposition"]).toContain("attachment");
  const theirFiles = `/agents/${theirs.agentId}/diff?repository=x`;
  for (const path of [
    `/agents/${theirs.agentId}`,
    theirFiles,
    `/agents/${theirs.agentId}/runs/${theirs.runId}/stream`,
  ]) {
    const answer = await visit(path);
    expect({ path, status: answer.status }).toEqual({ path, status: 404 });
    expect(answer.text).not.toContain("not for you");
  }
  for (const path of [
    "/agents",
    `/agents/${made.agentId}`,
    "/keys",
    "/repositories",
    "/repositories/sample/pulls/1",
    "/repositories/sample/pulls/1/diff",
  ])
    for (const headers of [{}, { cookie: `${cookie}x` }, { cookie: "platform_session=1.AAAA" }]) {
      const answer = await sendRequest(owner.url, { method: "GET", path, headers });
      expect({ path, status: answer.status }).toEqual({ path, status: 401 });
      expect(answer.text).not.toContain(secret);
    }
  const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
  for (const path of ["/v1/keys", `/v1/agents/${made.agentId}/archive`])
    for (const body of ["", "token=", "token=x"])
      expect(await sendRequest(owner.url, { method: "POST", path, headers, body }), path).toMatchObject({
        status: 403,
      });
  expect((await owner.get(`/v1/agents/${made.agentId}`)).body).toMatchObject({ status: "IDLE" });
});

test("a key is valid until it is revoked or has expired, and only complete", async () => {
  const expiring = await platform.harness.key("--expires", new Date(Date.now() + 3_600_000).toISOString());
  const doomed = await platform.harness.key();
  const statusOf = async (authorization: string | undefined) =>
    (
      await sendRequest(owner.url, {
        method: "GET",
        path: "/v1/agents",
        headers: { ...(authorization && { authorization }) },
      })
    ).status;
  expect(await Promise.all([owner.key, doomed, expiring].map((key) => statusOf(`Bearer ${key}`)))).toEqual([
    200, 200, 200,
  ]);
  for (const wrong of [
    undefined,
    "Bearer",
    "Bearer plt_",
    `Bearer ${owner.key.slice(0, -1)}`,
    `Bearer ${owner.key}0`,
    `Bearer ${owner.key.slice(0, 17)}${"0".repeat(owner.key.length - 17)}`,
    `Digest ${owner.key}`,
    `Basic ${Buffer.from(`x:${owner.key}x`).toString("base64")}`,
    "Basic !!!",
  ])
    expect(await statusOf(wrong), wrong).toBe(401);
  await platform.harness.run(["keys", "revoke", doomed.split("_")[1] ?? ""]);
  await eventually(async () => (await statusOf(`Bearer ${doomed}`)) === 401);
  await platform.harness.database.query("update api_keys set expires_at = now() where id = $1", [
    expiring.split("_")[1],
  ]);
  await eventually(async () => (await statusOf(`Bearer ${expiring}`)) === 401);
});

test("a key allows exactly its scopes, for members and administrators", async () => {
  const made = await owner.create("work");
  await owner.waitForRun(made);
  const keys = {
    reader: await platform.harness.key("--scopes", "agents:read"),
    writer: await platform.harness.key("--scopes", "agents:write"),
    fetcher: await platform.harness.key("--scopes", "repositories:read"),
    member: await platform.harness.key("--user", "member@localhost"),
    account: await platform.harness.key("--service-account"),
  };
  const { paths } = (await owner.get("/openapi.json")).body as Document & ScopedDocument;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { "x-scope": scope, "x-sharing": sharing = "read", requestBody }] of Object.entries(methods)) {
      const filled = path.replace("{id}", made.agentId).replace("{runId}", made.runId);
      for (const [who, key] of Object.entries(keys)) {
        const isGood = scope === undefined || scopesOf[who as keyof typeof keys].includes(scope);
        // A service account has neither secrets of its own nor an inbox, nor sessions or accounts at source hosts.
        const isPersonal = /^\/v1\/me\/(?:secrets|inbox|sessions|accounts)/.test(path) && who === "account";
        // A browser that is logged in gets notifications; a key shows none.
        const isKind = path !== "/v1/me/push" && (!isOfAccounts(path) || who === "account");
        const may = isGood && isKind && !isPersonal && (sharing === "read" || !["member", "account"].includes(who));
        if (may && (method === "delete" || path.endsWith("archive"))) continue;
        // Refused as well, once the name and the value are valid.
        if ((isPersonal || !isKind) && method !== "get") continue;
        const answer = await attempt(openClient(owner.url, key), method, filled, requestBody !== undefined);
        expect({ who, method, path, refused: answer.status === 403 }).toEqual({ who, method, path, refused: !may });
      }
    }
  expect((await owner.get(`/v1/agents/${made.agentId}`)).status).toBe(200);
  expect(
    (await platform.harness.run(["keys", "create", "--name", "x", "--user", "member@localhost", "--scopes", "admin"]))
      .code,
  ).not.toBe(0);
});

interface ScopedDocument {
  paths: Record<string, Record<string, { "x-scope"?: string; "x-sharing"?: string }>>;
}

const everyday = ["agents:read", "agents:write", "inference:create", "repositories:read", "repositories:write"];
const scopesOf: Record<"reader" | "writer" | "fetcher" | "member" | "account", string[]> = {
  reader: ["agents:read"],
  writer: ["agents:write"],
  fetcher: ["repositories:read"],
  member: everyday,
  account: everyday,
};
