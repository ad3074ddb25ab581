// What API v0 accepts and refuses, and how it shows agents of both versions.
import type { V0Agent } from "@agentcli/protocol/api";
import { eventually } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer();
  key = await server.key();
});
afterAll(() => server.close());

const call = (method: string, path: string, body?: unknown) => server.call(key, method, path, body);
const prompt = { text: "say hello" };
const source = { repository: "https://example.org/o/r" };

test.each([
  [{ source }, "prompt:"],
  [{ prompt }, "source:"],
  [{ prompt, source: {} }, "source: give a repository or the prUrl"],
  [{ prompt, source: { prUrl: "https://example.org/o/r/issues/1" } }, "source.prUrl: is not the address"],
  [{ prompt, source: { ...source, branch: "main" } }, "source.branch: unknown field"],
  [{ prompt, source, repos: [] }, "repos: unknown field"],
  [{ prompt, source, model: { id: "practice" } }, "model:"],
  [{ prompt, source, target: { autoCreatePR: true } }, "target.autoCreatePR: unknown field"],
  [{ prompt, source, target: { branchName: "no..name" } }, "target.branchName: is not a valid branch name"],
  [{ prompt, source, target: { branchName: "refs/heads/main" } }, "target.branchName: is not a valid branch name"],
  [{ prompt, source, target: { branchName: "b", autoBranch: false } }, "target.branchName: cannot be combined"],
  [{ prompt, source: { ...source, ref: "b" }, target: { branchName: "b" } }, "target.branchName: is the branch"],
  [{ prompt, source: { repository: "o/r" } }, "source.repository must begin with"],
  [{ prompt, source: { ...source, ref: "--x" } }, "source.ref cannot be the name"],
  [{ prompt, source, target: { autoBranch: false } }, "target.autoBranch: false needs source.ref"],
  [{ prompt, source, webhook: { url: "https://example.org/", secret: "x".repeat(31) } }, "webhook.secret:"],
  [{ prompt, source, webhook: { url: "http://169.254.169.254/" } }, "webhook.url: resolves to a private address"],
  [{ prompt: { ...prompt, images: [{ data: "AAAA" }] }, source }, "prompt.images.0.data: is not PNG"],
  [{ prompt: { ...prompt, images: [{ url: "https://example.org/a.png" }] }, source }, "prompt.images.0.url: unknown"],
])("creating with %j is refused: %s", async (body, complaint) => {
  const answer = await call("POST", "/v0/agents", body);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  expect((answer.body as { error: { message: string } }).error.message).toContain(complaint);
});

test("an unavailable model and a disallowed repository are refused with their codes", async () => {
  expect(await call("POST", "/v0/agents", { prompt, source, model: "none" })).toMatchObject({
    status: 400,
    body: { error: { code: "invalid_model", message: expect.stringMatching(/^model: unknown model none/) } },
  });
  const near = { prompt, source: { repository: "http://10.0.0.1/o/r" } };
  expect(await call("POST", "/v0/agents", near)).toMatchObject({
    status: 400,
    body: { error: { code: "repository_access" } },
  });
});

test("the names of an agent and of its MCP servers have no control or invisible characters, also if taken from its prompt", async () => {
  const invisible = [
    "\u200b",
    "\u200f",
    "\u2066",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u3164",
    "\ud800",
    "\u{e0001}",
    "\u2800",
  ];
  for (const name of ["\u001b[2J", "a\nb", "a\u009b", "\u202egpj", ...invisible.map((one) => `a${one}b`)])
    expect(await call("POST", "/v1/agents", { prompt, name })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("name: must not contain control characters") } },
    });
  for (const name of ["a\u009b", "\u202egpj"])
    expect(
      await call("POST", "/v1/agents", { prompt, mcpServers: [{ name, url: "https://example.com" }] }),
    ).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("must not contain control characters") } },
    });
  const hostile = { text: "say \u001b]52;c;x\u0007hel\u200blo\u202e\nand more" };
  expect((await create({ prompt: hostile })).name).toBe("say ]52;c;xhello");
  const plain = "\u2764\ufe0f l\u00f6schen, \u524a\u9664, \u05de\u05d7\u05e7";
  expect(await call("POST", "/v1/agents", { prompt, name: plain })).toMatchObject({ body: { agent: { name: plain } } });
});

/** Its run cannot reach the repository, which is enough to show the agent. */
async function create(more: object = {}): Promise<V0Agent> {
  const { status, body } = await call("POST", "/v0/agents", {
    prompt,
    source: { repository: "https://nowhere.invalid/o/r" },
    ...more,
  });
  expect(status).toBe(200);
  return body as V0Agent;
}

test("image types are detected by their first bytes", async () => {
  const bytes = [
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    [0xff, 0xd8, 0xff, 0xe0],
    [...Buffer.from("GIF89a")],
    [...Buffer.from("RIFF\0\0\0\0WEBPVP8 ")],
  ];
  const images = bytes.map((some) => ({
    data: Buffer.from(some).toString("base64"),
    dimension: { width: 1, height: 1 },
  }));
  expect(await create({ prompt: { ...prompt, images } })).toMatchObject({ name: "say hello" });
});

test("the branch is known before anything is pushed to it, and the agent is found by its pull request", async () => {
  const named = await create({ target: { branchName: "fix/it" } });
  expect(named.target.branchName).toBe("fix/it");
  const unnamed = await create();
  expect(unnamed.target.branchName).toMatch(/^platform\/work-[0-9a-f]{8}$/);
  const repository = "https://nowhere.invalid/o/r";
  const current = await create({ source: { repository, ref: "develop" }, target: { autoBranch: false } });
  expect(current.target.branchName).toBe("develop");
  const pull = await create({ source: { prUrl: `${repository}/pull/7` }, target: { autoBranch: false } });
  expect(pull).toMatchObject({ source: { repository, prUrl: `${repository}/pull/7` } });
  expect(pull.target.branchName).toBeUndefined();
  for (const [number, found] of [
    [7, [{ id: pull.id }]],
    [8, []],
  ] as const)
    expect((await call("GET", `/v1/agents?prUrl=${repository}/pull/${number}`)).body).toMatchObject({ items: found });
});

test("a run that failed is an ERROR with its reason, and its prompt is in the conversation", async () => {
  const { id } = await create();
  const failed = await eventually(async () => {
    const { body } = await call("GET", `/v0/agents/${id}`);
    expect(body).toMatchObject({ status: "ERROR" });
    return body as V0Agent;
  });
  expect(failed.summary).toContain("nowhere.invalid");
  expect(await call("GET", `/v0/agents/${id}/conversation`)).toMatchObject({
    body: { id, messages: [{ type: "user_message", text: "say hello" }] },
  });
});

test("agents of v1 are listed too, with pagination", async () => {
  const made = await call("POST", "/v1/agents", { prompt });
  const { agent } = made.body as { agent: { id: string } };
  const seen: V0Agent[] = [];
  let cursor = "";
  do {
    const { body } = await call("GET", `/v0/agents?limit=2${cursor}`);
    const page = body as { agents: V0Agent[]; nextCursor?: string };
    expect(page.agents.length).toBeLessThanOrEqual(2);
    seen.push(...page.agents);
    cursor = page.nextCursor ? `&cursor=${page.nextCursor}` : "";
  } while (cursor !== "");
  expect(seen[0]).toMatchObject({ id: agent.id, source: {}, target: { autoCreatePr: false } });
  expect(seen[0]?.target.branchName).toBeUndefined();
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  const stranger = await server.key({ team: "strangers" });
  expect(await server.call(stranger, "GET", "/v0/agents")).toMatchObject({ body: { agents: [] } });
  expect(await server.call(stranger, "GET", `/v0/agents/${agent.id}/conversation`)).toMatchObject({ status: 404 });
});

test.each([
  ["2026-01-01T00:00:00.000Z", "\0"],
  ["-271821-04-20T00:00:00.000Z", "bc-1"],
  ["2026-13-01T00:00:00.000Z", "bc-1"],
  ["2026", "bc-1"],
  [0, 0],
])("a cursor of %j and %j is refused", async (...position) => {
  const cursor = Buffer.from(JSON.stringify(position)).toString("base64url");
  for (const version of ["v0", "v1"])
    expect(await call("GET", `/${version}/agents?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { error: { code: "validation_error", message: expect.stringContaining("cursor:") } },
    });
});

test("artifacts of agents older than six months are refused, and so are paths outside the artifacts", async () => {
  const { id } = await create();
  await server.platform.db
    .updateTable("agents")
    .set({ created_at: new Date(Date.now() - 200 * 24 * 3_600_000) })
    .where("id", "=", id)
    .execute();
  expect(await call("GET", `/v0/agents/${id}/artifacts`)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("six months") } },
  });
  for (const path of ["artifacts/a", "/opt/platform/artifacts/../x", "/etc/passwd", "/opt/platform/artifacts/"])
    expect(await call("GET", `/v0/agents/${id}/artifacts/download?path=${path}`)).toMatchObject({ status: 400 });
});

test("creating twice with one idempotency key creates one agent", async () => {
  const send = () =>
    fetch(`${server.url}/v0/agents`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "once" },
      body: JSON.stringify({ prompt, source: { repository: "https://nowhere.invalid/o/r" } }),
    });
  const first = (await (await send()).json()) as V0Agent;
  await expect.poll(() => call("GET", `/v0/agents/${first.id}`)).toMatchObject({ body: { status: "ERROR" } });
  const second = await send();
  expect(await second.json()).toEqual(first);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
});

test("the OpenAPI document contains all of v0", async () => {
  const { body } = await call("GET", "/openapi.json");
  const paths = Object.keys((body as { paths: object }).paths).filter((path) => path.startsWith("/v0/"));
  expect(paths.sort()).toEqual([
    "/v0/agents",
    "/v0/agents/{id}",
    "/v0/agents/{id}/artifacts",
    "/v0/agents/{id}/artifacts/download",
    "/v0/agents/{id}/conversation",
    "/v0/agents/{id}/followup",
    "/v0/agents/{id}/stop",
    "/v0/me",
    "/v0/models",
    "/v0/private-workers",
    "/v0/private-workers/claim",
    "/v0/private-workers/claims/{id}/fail",
    "/v0/private-workers/claims/{id}/release",
    "/v0/private-workers/pending-requests",
    "/v0/private-workers/pending-requests/stream",
    "/v0/private-workers/pools",
    "/v0/private-workers/summary",
    "/v0/private-workers/tokens",
    "/v0/private-workers/{workerId}",
    "/v0/repositories",
  ]);
});
