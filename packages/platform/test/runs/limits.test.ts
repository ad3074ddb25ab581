import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { call, replyWith, stall, temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import type { StreamFrame } from "@agentcli/testkit/platform";
import { describe, expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/serve.ts";
import { serveHttp } from "../repositories/git-servers.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

/** A US dollar. */
const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 100_000 };
const shell = (cmd: string) => call("exec_command", { cmd });

test("plan mode changes no files, and its plan is the result and an artifact", async () => {
  const { client, requests, dataDirectory } = await openRunHarness({
    replies: [
      shell("echo x > changed.txt"),
      replyWith("1. Look. 2. Leap."),
      shell("echo x > changed.txt"),
      replyWith("Leapt."),
    ],
  });
  const ids = await client.create({ prompt: { text: "plan it" }, mode: "plan" });
  await client.stream(ids);
  const root = join(dataDirectory, "workspaces", ids.agentId, "workspace");
  expect(existsSync(join(root, "changed.txt"))).toBe(false);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "1. Look. 2. Leap." });
  const { items } = await client.getJson<{ items: object[] }>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items).toMatchObject([{ path: "artifacts/PLAN.md", sizeBytes: 17 }]);
  expect(JSON.stringify(requests()[0]?.body)).toContain("Plan mode");
  await client.stream(await client.followUp(ids.agentId, { prompt: { text: "do it" }, mode: "agent" }));
  expect(existsSync(join(root, "changed.txt"))).toBe(true);
  expect(JSON.stringify(requests()[2]?.body)).toContain("Sandbox: workspace-write");
});

test("images, model and its parameters reach the provider, and apply until others are requested", async () => {
  const { client, requests } = await openRunHarness({
    replies: { replies: [replyWith("Seen.")], repeat: "last" },
    models: { models: ["other"] },
  });
  const data = "iVBORw0KGgo=";
  const ids = await client.create({
    prompt: { text: "look", images: [{ data, mimeType: "image/png" }, { url: "https://example.com/a.png" }] },
    model: { id: "scripted", params: [{ id: "reasoning_effort", value: "high" }] },
  });
  await client.stream(ids);
  await client.stream(await client.followUp(ids.agentId, { prompt: { text: "again" }, model: { id: "other" } }));
  await client.stream(await client.followUp(ids.agentId, { prompt: { text: "and again" } }));
  const bodies = requests().map(({ body }) => body as { model: string; reasoning?: { effort?: string } });
  expect(JSON.stringify(bodies[0])).toContain(`data:image/png;base64,${data}`);
  expect(JSON.stringify(bodies[0])).toContain("https://example.com/a.png");
  expect(bodies.map(({ model }) => model)).toEqual(["scripted", "other", "other"]);
  expect(bodies.map(({ reasoning }) => reasoning?.effort)).toEqual(["high", undefined, undefined]);
});

describe("a run ends at its limit", () => {
  test("of time", async () => {
    const { client } = await openRunHarness({ replies: [shell("sleep 600")], models: { limits: { wall: "1s" } } });
    const ids = await client.create({ prompt: { text: "wait" } });
    const frames = await client.stream(ids);
    expect(frames.at(-2)?.data).toMatchObject({ status: "EXPIRED", error: { code: "limit" } });
    expect(await client.read(ids)).toMatchObject({
      status: "EXPIRED",
      error: { code: "limit", message: expect.stringContaining("time limit of 1 s") },
    });
  });

  test("of time, also while its repository is fetched", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const { client } = await openRunHarness({ replies: [], models: { limits: { wall: "1s" } } });
    const ids = await client.create({ prompt: { text: "clone" }, repos: [{ url: `http://127.0.0.1:${port}/team/r` }] });
    await client.stream(ids);
    expect(await client.read(ids)).toMatchObject({ status: "EXPIRED", error: { code: "limit" } });
  });

  test("of requests, and reports its result so far", async () => {
    const { client } = await openRunHarness({
      replies: { replies: [shell("true")], repeat: "last" },
      models: { budget: { turns: 3 } },
    });
    const ids = await client.create({ prompt: { text: "go on for ever" } });
    await client.stream(ids);
    expect(await client.read(ids)).toMatchObject({ status: "ERROR", error: { code: "budget" } });
  });

  test("of its team's spend, and the next run is refused at creation", async () => {
    const { client, fixture } = await openRunHarness({
      replies: { replies: [call("exec_command", { cmd: "true" }, { usage })], repeat: "last" },
    });
    const { db } = fixture.platform;
    await db.updateTable("teams").set({ spend_limit_usd: "3.5" }).execute();
    const ids = await client.create({ prompt: { text: "spend" } });
    await client.stream(ids);
    expect(await client.read(ids)).toMatchObject({ status: "ERROR", error: { code: "spend_limit_reached" } });
    await db.updateTable("users").set({ spend_limit_usd: "0.1" }).execute();
    const refused = await client.send("POST", `/v1/agents/${ids.agentId}/runs`, { prompt: { text: "more" } });
    expect(JSON.parse(refused.bytes.toString())).toMatchObject({ error: { code: "spend_limit_reached" } });
  });

  test("of its user's spend, even if another run of the user reaches it", async () => {
    const { client, fixture } = await openRunHarness({ replies: [shell("sleep 600")], settings: { leaseMs: 900 } });
    const { db } = fixture.platform;
    await db.updateTable("users").set({ spend_limit_usd: "2" }).execute();
    const ids = await client.create({ prompt: { text: "sleep" } });
    await client.follow(
      ids,
      untilRunning(async () => {
        await db
          .insertInto("runs")
          .values(await otherRun(fixture, ids.agentId))
          .execute();
      }),
      new AbortController().signal,
    );
    expect(await client.read(ids)).toMatchObject({ status: "ERROR", error: { code: "spend_limit_reached" } });
  });
});

describe("under a spend limit, a model without a price", () => {
  const unpriced = { prices: {}, models: ["gpt-5"] };
  const limited = (fixture: RunHarness["fixture"]) =>
    fixture.platform.db.updateTable("teams").set({ spend_limit_usd: "5" }).execute();

  test("is refused at creation of an agent, its sub-agents and a follow-up; a model with a price is accepted", async () => {
    const { client, fixture } = await openRunHarness({ replies: [], models: unpriced, settings: { roles: ["api"] } });
    const before = await client.create({ prompt: { text: "go" } });
    await fixture.platform.db.updateTable("runs").set({ status: "FINISHED" }).execute();
    await limited(fixture);
    const model = { id: "gpt-5" };
    const child = { name: "c", description: "Counts.", prompt: "Count.", model: "scripted" };
    for (const [path, body] of [
      ["/v1/agents", {}],
      ["/v1/agents", { model, customSubagents: [child] }],
      [`/v1/agents/${before.agentId}/runs`, {}],
    ] as const) {
      const refused = await client.send("POST", path, { prompt: { text: "go" }, ...body });
      expect(`${refused.status} ${refused.bytes}`).toMatch(/^400 .*"invalid_model".*scripted.*\[prices\./);
    }
    for (const id of ["gpt-5", "practice"])
      await client.create({ prompt: { text: "go" }, model: { id }, customSubagents: [{ ...child, model: "inherit" }] });
  });

  test("ends a run that was queued when the limit was set", async () => {
    const { client, fixture } = await openRunHarness({ replies: [], models: unpriced, settings: { roles: ["api"] } });
    const ids = await client.create({ prompt: { text: "go" } });
    await limited(fixture);
    const settings = { ...fixture.platform.settings, roles: ["runner" as const] };
    const runner = await serve({ ...fixture.platform, nodeId: "later", settings });
    onTestFinished(runner.stop);
    expect((await client.stream(ids)).at(-2)?.data).toMatchObject({
      status: "ERROR",
      error: { code: "invalid_model" },
    });
  });

  test("ends a run that was in progress when the limit was set", async () => {
    const { client, fixture } = await openRunHarness({
      replies: [shell("sleep 600")],
      models: unpriced,
      settings: { leaseMs: 900 },
    });
    const ids = await client.create({ prompt: { text: "sleep" } });
    await client.follow(
      ids,
      untilRunning(() => limited(fixture)),
      new AbortController().signal,
    );
    const { status, error } = await client.read(ids);
    expect([status, error?.code, error?.message]).toEqual(["ERROR", "budget", expect.stringContaining("[prices.")]);
  });
});

/** A run of the same user that used up the user's spend limit. */
async function otherRun({ platform: { db } }: RunHarness["fixture"], agentId: string) {
  const run = await db.selectFrom("runs").selectAll().where("agent_id", "=", agentId).executeTakeFirstOrThrow();
  return { ...run, id: `${run.id}-other`, number: 2, status: "FINISHED" as const, cost_usd: "2" };
}

/** Once, while a tool is running. */
function untilRunning(act: () => Promise<unknown>) {
  let isDone = false;
  return ({ event }: StreamFrame) => {
    if (event !== "tool_call" || isDone) return;
    isDone = true;
    void act();
  };
}

describe("a cancelled run", () => {
  const cancel = (client: RunHarness["client"], { agentId, runId }: { agentId: string; runId: string }) =>
    client.send("POST", `/v1/agents/${agentId}/runs/${runId}/cancel`);

  test("ends during a tool call, and the agent accepts a follow-up", async () => {
    const { client } = await openRunHarness({ replies: [shell("sleep 600"), replyWith("Here again.")] });
    const ids = await client.create({ prompt: { text: "sleep" } });
    const frames: StreamFrame[] = [];
    const running = untilRunning(() => cancel(client, ids));
    await client.follow(
      ids,
      (frame) => {
        frames.push(frame);
        running(frame);
      },
      new AbortController().signal,
    );
    expect(frames.at(-2)?.data).toMatchObject({ status: "CANCELLED" });
    const next = await client.followUp(ids.agentId, { prompt: { text: "still there?" } });
    expect((await client.stream(next)).at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Here again." });
  });

  test("ends while the model sends nothing", async () => {
    const { client, requests } = await openRunHarness({ replies: [stall("after-headers")] });
    const ids = await client.create({ prompt: { text: "think" } });
    await expect.poll(() => requests().length).toBe(1);
    await cancel(client, ids);
    expect((await client.stream(ids)).at(-2)?.data).toMatchObject({ status: "CANCELLED" });
  });

  test("ends during a clone", async () => {
    const asked: string[] = [];
    const silent = createServer((request) => asked.push(request.url ?? ""));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const { client } = await openRunHarness({ replies: [] });
    const url = `http://127.0.0.1:${port}/team/repository`;
    const ids = await client.create({ prompt: { text: "clone" }, repos: [{ url }] });
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    await cancel(client, ids);
    expect((await client.stream(ids)).at(-2)?.data).toMatchObject({ status: "CANCELLED" });
    silent.closeAllConnections();
    silent.close();
  });
});

test("a run that is cancelled during hand-off ends, and the next one hands off the changes of both", async () => {
  const served = await temporaryDirectory();
  const origin = await temporaryRepository({ "README.md": "# Sample\n" });
  await origin.git("clone", "--quiet", "--bare", ".", join(served.path, "sample.git"));
  let isSilent = true;
  const pushes: string[] = [];
  const git = await serveHttp(served.path, ({ url = "" }) => {
    if (!url.includes("receive-pack")) return false;
    pushes.push(url);
    return isSilent;
  });
  onTestFinished(async () => {
    await git.close();
    await origin.remove();
    await served.remove();
  });
  const { client } = await openRunHarness({
    replies: [shell("echo one > one.txt"), replyWith("One."), shell("echo two > two.txt"), replyWith("Two.")],
  });
  const ids = await client.create({ prompt: { text: "one" }, repos: [{ url: `${git.url}/sample.git` }] });
  await expect.poll(() => pushes.length).toBeGreaterThan(0);
  await client.send("POST", `/v1/agents/${ids.agentId}/runs/${ids.runId}/cancel`);
  expect((await client.stream(ids)).at(-2)?.data).toMatchObject({ status: "CANCELLED" });
  isSilent = false;
  const next = await client.followUp(ids.agentId, { prompt: { text: "two" } });
  const result = (await client.stream(next)).at(-2)?.data;
  expect(result).toMatchObject({ status: "FINISHED", git: { branches: [{ branch: expect.any(String) }] } });
  const pushed = result?.git as { branches: { branch: string }[] } | undefined;
  const { stdout } = await promisify(execFile)("git", [
    ...["--git-dir", join(served.path, "sample.git")],
    ...["ls-tree", "--name-only", pushed?.branches[0]?.branch ?? ""],
  ]);
  expect(stdout.split("\n")).toEqual(expect.arrayContaining(["one.txt", "two.txt"]));
});

test("a run whose agent is deleted meanwhile ends without an error, and leaves nothing behind", async () => {
  const { client, dataDirectory, fixture } = await openRunHarness({
    replies: [shell('echo x > "$PLATFORM_ARTIFACTS_DIR/x"; sleep 600')],
  });
  const ids = await client.create({ prompt: { text: "sleep" } });
  const running = untilRunning(() => client.send("DELETE", `/v1/agents/${ids.agentId}`));
  const leaving = new AbortController();
  void client.follow(ids, running, leaving.signal);
  await expect.poll(() => fixture.platform.db.selectFrom("agents").selectAll().execute()).toEqual([]);
  await expect.poll(() => existsSync(join(dataDirectory, "workspaces", ids.agentId))).toBe(false);
  await expect.poll(() => existsSync(join(dataDirectory, "artifacts", ids.agentId))).toBe(false);
  leaving.abort();
});
