// Agents and runs under concurrency: repeated and simultaneous requests, cancellation, deletion, paging.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventually, stall } from "@agentcli/testkit";
import {
  type ApiResponse,
  type PlatformClient,
  type RunIds,
  servePlatformForFile,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { beforeAll, expect, test } from "vitest";

/** In prompts, for the scripted model. */
const forever = "this one never ends";
const busy = "this one keeps a command busy";
const shared = servePlatformForFile({
  replies: {
    replies: [
      { when: { bodyIncludes: forever }, ...stall("after-headers") },
      {
        when: { bodyIncludes: busy },
        calls: [{ name: "exec_command", arguments: { cmd: "while true; do date >> busy; mkdir -p a/$RANDOM; done" } }],
      },
      { when: { bodyIncludes: "before an answer" }, messages: ["x"], stall: "before-headers" },
      { when: { bodyIncludes: "within an answer" }, messages: ["one two three four"], deltas: 4, stall: 3 },
      {
        when: { bodyIncludes: "within a command" },
        calls: [{ name: "exec_command", arguments: { cmd: "touch begun; sleep 60" } }],
      },
      { when: { bodyIncludes: "between retries" }, status: 503, headers: { "retry-after": "60" } },
      { messages: ["done"] },
    ],
    repeat: "always",
  },
});

let client: PlatformClient;
beforeAll(async () => {
  client = await shared().client();
});

let teams = 0;
/** Of a team without agents. */
const newTeam = (): Promise<PlatformClient> => {
  teams += 1;
  return shared().client("--team", `team-${teams}`);
};

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const body = { prompt: { text: "once" } };
const statuses = (answers: ApiResponse[]): number[] => answers.map(({ status }) => status).sort();
const codeOf = ({ body: answered }: ApiResponse): string => (answered as { error: { code: string } }).error.code;
const messageOf = ({ body: answered }: ApiResponse): string =>
  (answered as { error: { message: string } }).error.message;
const idsOf = (answers: ApiResponse[]): Set<string> =>
  new Set(answers.map(({ text }) => (JSON.parse(text) as { agent: { id: string } }).agent.id));

interface Ided {
  id: string;
}

async function agentsOf(client: PlatformClient): Promise<number> {
  return ((await client.get("/v1/agents?limit=100")).body as { items: unknown[] }).items.length;
}

test("an agentId creates one agent, however many requests use it at once", async () => {
  const client = await newTeam();
  const agentId = "bc-00000000-0000-4000-8000-00000000ABCD";
  const answers = await Promise.all(times(20, () => client.post("/v1/agents", { ...body, agentId })));
  expect(statuses(answers)).toEqual([200, ...times(19, () => 409)]);
  expect(new Set(answers.filter(({ status }) => status === 409).map(codeOf))).toEqual(new Set(["agent_id_conflict"]));
  expect(await agentsOf(client)).toBe(1);
  expect((await client.get(`/v1/agents/${agentId}`)).body).toMatchObject({ id: agentId.toLowerCase() });
});

test("an agentId is returned as it was written, and every route accepts it", async () => {
  const agentId = "bc-ABCDEF00-0000-4000-8000-00000000ABCD";
  const created = await client.post("/v1/agents", { ...body, agentId });
  const { run } = created.body as { run: Ided };
  expect(created.body).toMatchObject({ agent: { id: agentId }, run: { agentId } });
  const runId = run.id.replace(/[a-f]/g, (letter) => letter.toUpperCase()).replace(/^RUN/i, "run");
  await client.waitForRun({ agentId, runId });
  for (const path of ["", "/runs", `/runs/${runId}`, `/runs/${runId}/stream`, "/usage", "/artifacts", "/diff"])
    expect([path, (await client.get(`/v1/agents/${agentId}${path}`)).status]).toEqual([path, 200]);
});

test("an agent for an environment that does not exist is refused", async () => {
  for (const [env, target] of [
    [{ type: "pool" }, 'pool "default"'],
    [{ type: "pool", name: "fast" }, 'pool "fast"'],
    [{ type: "machine" }, "machine"],
    [{ type: "cloud", name: "web" }, 'environment "web"'],
  ] as const) {
    const refused = await client.post("/v1/agents", { ...body, env });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
    expect(messageOf(refused)).toContain(`this platform has no ${target}`);
  }
  expect((await client.post("/v1/agents", { ...body, env: { type: "cloud" } })).status).toBe(200);
});

test("MCP servers keep the names of their owner, and an empty image is refused", async () => {
  const server = (name: string) => ({ mcpServers: [{ name, command: "true" }] });
  for (const name of ["My Server", "büro: docs/wiki", "x".repeat(64)])
    expect((await client.post("/v1/agents", { ...body, ...server(name) })).status).toBe(200);
  for (const name of ["", "a\nb", "x".repeat(65)])
    expect((await client.post("/v1/agents", { ...body, ...server(name) })).status).toBe(400);
  const images = [{ data: "", mimeType: "image/png" }];
  expect(messageOf(await client.post("/v1/agents", { prompt: { text: "look", images } }))).toContain("data: is empty");
});

test("an Idempotency-Key creates one agent, and every request with it returns that one", async () => {
  const client = await newTeam();
  const key = { "idempotency-key": "k-1" };
  const answers = await Promise.all(times(40, () => client.post("/v1/agents", body, key)));
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const first = answers.filter(({ headers }) => headers["idempotency-replayed"] === undefined);
  expect(first).toHaveLength(1);
  const other = await client.post("/v1/agents", { prompt: { text: "twice" } }, key);
  expect([other.status, codeOf(other)]).toEqual([409, "idempotency_conflict"]);
  expect(await agentsOf(client)).toBe(1);
  const [agentId = ""] = idsOf(answers);
  await client.delete(`/v1/agents/${agentId}`);
  expect((await client.post("/v1/agents", body, key)).status).toBe(200);
});

test("an Idempotency-Key creates one follow-up, also after it has ended", async () => {
  const ids = await client.create("first");
  await client.waitForRun(ids);
  const path = `/v1/agents/${ids.agentId}/runs`;
  const follow = () => client.post(path, body, { "idempotency-key": "k-2" });
  const answers = await Promise.all(times(10, follow));
  const [text = "", ...others] = new Set(answers.map((answer) => answer.text));
  expect(others).toEqual([]);
  const first = JSON.parse(text) as { run: Ided };
  await client.waitForRun({ ...ids, runId: first.run.id });
  expect((await follow()).body).toEqual(first);
  expect(first).toMatchObject({ run: { status: "CREATING" } });
  expect((await client.get(path)).body).toMatchObject({ items: [{}, {}] });
});

test("of twenty prompts at once one becomes a run and the others are refused as busy", async () => {
  const ids = await client.create("first");
  await client.waitForRun(ids);
  for (let round = 0; round < 5; round += 1) {
    const path = `/v1/agents/${ids.agentId}/runs`;
    const answers = await Promise.all(times(20, () => client.post(path, body)));
    // A scripted run may end before the last request arrives.
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeGreaterThan(0);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(codeOf))).toEqual(new Set(["agent_busy"]));
    for (const { text } of won)
      await client.waitForRun({ ...ids, runId: (JSON.parse(text) as { run: { id: string } }).run.id });
  }
});

test("during a run all other prompts are refused as busy, and archiving cancels it", async () => {
  const client = await newTeam();
  const ids = await client.create(forever);
  const answers = await Promise.all(times(20, () => client.post(`/v1/agents/${ids.agentId}/runs`, body)));
  expect(new Set(answers.map(codeOf))).toEqual(new Set(["agent_busy"]));
  expect((await client.get(`/v1/agents/${ids.agentId}`)).body).toMatchObject({ status: "ACTIVE" });
  for (const verb of ["archive", "archive"])
    expect((await client.post(`/v1/agents/${ids.agentId}/${verb}`)).body).toEqual({ id: ids.agentId });
  expect((await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}`)).body).toMatchObject({
    status: "CANCELLED",
  });
  expect((await client.get(`/v1/agents/${ids.agentId}`)).body).toMatchObject({ status: "ARCHIVED" });
  expect(codeOf(await client.post(`/v1/agents/${ids.agentId}/runs`, body))).toBe("agent_archived");
  expect((await client.get("/v1/agents?includeArchived=false")).body).toEqual({ items: [] });
  for (const verb of ["unarchive", "unarchive"])
    expect((await client.post(`/v1/agents/${ids.agentId}/${verb}`)).body).toEqual({ id: ids.agentId });
  expect((await client.post(`/v1/agents/${ids.agentId}/runs`, body)).status).toBe(200);
});

test("a run that races with archiving is either refused or cancelled", async () => {
  const agents = await Promise.all(times(10, () => client.create(forever)));
  await Promise.all(agents.map(({ agentId, runId }) => client.post(`/v1/agents/${agentId}/runs/${runId}/cancel`)));
  await Promise.all(agents.map(client.waitForRun));
  await Promise.all(
    agents.flatMap(({ agentId }) => [
      client.post(`/v1/agents/${agentId}/runs`, body),
      client.post(`/v1/agents/${agentId}/archive`),
    ]),
  );
  for (const { agentId } of agents) {
    const { items } = (await client.get(`/v1/agents/${agentId}/runs`)).body as { items: { id: string }[] };
    for (const { id } of items)
      expect(await client.waitForRun({ agentId, runId: id })).toMatchObject({ status: "CANCELLED" });
  }
});

test("a deleted agent is gone at once with all its data, also in the middle of a command", async () => {
  const { harness, repository } = shared();
  const url = await repository("sample", { "README.md": "# Sample\n" });
  const ids = await client.create(busy, { repos: [{ url }] });
  const directory = join(harness.data, "workspaces", ids.agentId);
  await eventually(() => existsSync(join(directory, "sample/busy")));
  const following = client.streamText(ids);
  expect((await client.delete(`/v1/agents/${ids.agentId}`)).body).toEqual({ id: ids.agentId });
  expect(await following).toMatch(/event: error\ndata: {"code":"not_found",.*}\n\n$/);
  for (const path of ["", "/runs", `/runs/${ids.runId}`, `/runs/${ids.runId}/stream`, "/usage", "/artifacts"])
    expect((await client.get(`/v1/agents/${ids.agentId}${path}`)).status).toBe(404);
  expect((await client.delete(`/v1/agents/${ids.agentId}`)).status).toBe(404);
  await eventually(() => !existsSync(directory));
  expect((await client.create("another")).agentId).not.toBe(ids.agentId);
});

test("agents deleted while they end, get follow-ups or are read cause no server error", async () => {
  const client = await newTeam();
  const earlier = shared().server.log().length;
  const agents = await Promise.all(times(20, () => client.create("quick")));
  const answers = await Promise.all(
    agents.flatMap(({ agentId, runId }) => [
      client.get(`/v1/agents/${agentId}`),
      client.post(`/v1/agents/${agentId}/runs`, body),
      client.delete(`/v1/agents/${agentId}`),
      client.post(`/v1/agents/${agentId}/runs`, body, { "idempotency-key": agentId }),
      client.post(`/v1/agents/${agentId}/runs/${runId}/cancel`),
    ]),
  );
  const log = shared().server.log().slice(earlier);
  expect(log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await agentsOf(client)).toBe(0);
});

test("a run is cancelled in any phase", async () => {
  const platform = shared();
  const cancel = async (ids: RunIds) => {
    const asked = Date.now();
    expect((await client.post(`/v1/agents/${ids.agentId}/runs/${ids.runId}/cancel`)).body).toEqual({
      id: ids.runId,
    });
    const run = (await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}`)).body;
    expect(run).toMatchObject({ status: "CANCELLED" });
    expect(run).not.toHaveProperty("error");
    const again = await client.post(`/v1/agents/${ids.agentId}/runs/${ids.runId}/cancel`);
    expect([again.status, codeOf(again)]).toEqual([409, "run_not_cancellable"]);
    return Date.now() - asked;
  };
  const tookMs: Record<string, number> = { "at once": await cancel(await client.create("within a command")) };
  for (const phase of ["before an answer", "within an answer", "within a command", "between retries"]) {
    const ids = await client.create(phase);
    await eventually(() => platform.requests().some(({ body: asked }) => JSON.stringify(asked).includes(phase)));
    if (phase === "within a command")
      await eventually(() => existsSync(join(platform.harness.data, "workspaces", ids.agentId, "workspace/begun")));
    tookMs[phase] = await cancel(ids);
  }
  console.log(`cancelled after ms: ${JSON.stringify(tookMs)}`);
});

test("a follow-up continues the conversation and the files of the previous run", async () => {
  const platform = await servePlatformForTest({
    replies: [
      { calls: [{ name: "exec_command", arguments: { cmd: "echo kept > note.txt" } }] },
      { messages: ["I wrote a note."] },
      { calls: [{ name: "exec_command", arguments: { cmd: "cat note.txt" } }] },
      { messages: ["It says kept."] },
    ],
  });
  const client = await platform.client();
  const first = await client.create("write a note");
  expect(await client.waitForRun(first)).toMatchObject({ result: "I wrote a note." });
  const second = await client.followUp(first.agentId, "what does it say?");
  expect(await client.waitForRun(second)).toMatchObject({ status: "FINISHED", result: "It says kept." });
  const last = JSON.stringify(platform.requests().at(-1)?.body);
  for (const text of ["write a note", "I wrote a note.", "what does it say?", "kept"]) expect(last).toContain(text);
});

test("paging returns every agent once while others are created", async () => {
  const client = await (await servePlatformForTest({ args: ["--role", "api"] })).client();
  const before = (await Promise.all(times(45, () => client.create("x")))).map(({ agentId }) => agentId);
  for (const limit of [1, 7, 44, 45, 100]) {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await client.get(`/v1/agents?limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`)).body as Page;
      seen.push(...page.items.map(({ id }) => id));
      expect(page).not.toHaveProperty("nextCursor", null);
      cursor = page.nextCursor;
      if (limit > 1) await client.create("later");
    } while (cursor);
    expect(new Set(seen).size).toBe(seen.length);
    expect(before.filter((id) => !seen.includes(id))).toEqual([]);
  }
  expect(((await client.get("/v1/agents")).body as Page).items).toHaveLength(20);
  for (const limit of ["0", "101", "-1", "x", "1.5", ""])
    expect((await client.get(`/v1/agents?limit=${limit}`)).status, limit).toBe(400);
});

interface Page {
  items: { id: string }[];
  nextCursor?: string;
}
