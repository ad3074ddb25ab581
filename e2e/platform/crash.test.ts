import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { call, type Reply, replyWith, unusedPort } from "@agentcli/testkit";
import {
  openPlatform,
  type PlatformClient,
  type PlatformHarness,
  type PlatformServer,
  type RunIds,
  type StreamFrame,
} from "@agentcli/testkit/platform";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWithReconnects } from "./stream-reader.ts";

const usage = { inputTokens: 1000, cachedInputTokens: 0, outputTokens: 100 };
const steps = ["command", "patch", "spawn", "wait", "last"] as const;

/** The model goes by what it has asked for, not by luck: it says the same however often it is asked. */
function script(): Reply[] {
  const patch = "*** Begin Patch\n*** Add File: patched.txt\n+patched\n*** End Patch";
  const asked: Record<(typeof steps)[number], Reply> = {
    command: call("exec_command", { cmd: "echo command >> journal.txt" }),
    patch: call("apply_patch", { input: patch }),
    spawn: call("spawn_agent", { message: "count the files", agent_type: "counter" }),
    wait: call("wait_agent", { targets: ["counter"] }),
    last: call("exec_command", { cmd: "echo last >> journal.txt" }),
  };
  const named = steps.map((step) => {
    const { calls = [] } = asked[step] as { calls?: object[] };
    return { calls: calls.map((each) => ({ ...each, callId: `call_${step}` })), usage } as Reply;
  });
  const after = (step: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `"call_${step}"` } });
  const later = steps.map((step, index) =>
    after(step, named[index + 1] ?? replyWith("All done.", { usage, deltas: 8 })),
  );
  const child: Reply = { ...replyWith("Three files.", { usage }), when: { bodyIncludes: "You count things." } };
  return [child, ...later.toReversed(), ...named.slice(0, 1)];
}

let harness: PlatformHarness;
let server: PlatformServer;
let client: PlatformClient;
let repository: string;
let listen: string;
beforeAll(async () => {
  harness = await openPlatform({ replies: { replies: script(), repeat: "always" } });
  listen = `127.0.0.1:${await unusedPort()}`;
  server = await serve();
  client = await harness.client(server);
  repository = await harness.repository("sample", { "README.md": "# Sample\n" });
});
afterAll(() => harness.close());

const serve = () => harness.serve({ listen, killable: true });

/** The same agent however often it is asked for: the id is the caller's. */
async function create(agentId: string): Promise<RunIds> {
  for (;;) {
    const answer = await client.send("POST", "/v1/agents", body(agentId)).catch(() => null);
    if (answer?.status === 200) return { agentId, runId: JSON.parse(answer.text).run.id };
    if (answer?.status === 409) {
      const { latestRunId } = await client.getJson<{ latestRunId: string }>(`/v1/agents/${agentId}`);
      return { agentId, runId: latestRunId };
    }
    await pause(20);
  }
}

const body = (agentId: string) => ({
  agentId,
  name: agentId,
  prompt: { text: "do five things" },
  repos: [{ url: repository }],
  autoCreatePR: true,
  customSubagents: [{ name: "counter", description: "Counts.", prompt: "You count things." }],
});

interface Kill {
  at: number;
  when: "before" | "sent";
}

/** Settles with the events of a reader connected from the beginning. Whenever the server dies, it is started again. */
async function runWithKill({ at, when }: Kill): Promise<Outcome> {
  await server.killAt(at, when);
  let isOver = false;
  const reviving = (async () => {
    while (!isOver) {
      await Promise.race([server.exited, pause(50)]);
      if (!isAlive(server)) server = await serve();
    }
  })();
  const ids = await create(`bc-${randomUUID()}`);
  const frames = await readWithReconnects(client, ids);
  isOver = true;
  await reviving;
  const statements = server.statementCount();
  await server.killAt(0, "before").catch(async () => {
    server = await serve();
  });
  return { ids, frames, statements };
}

interface Outcome {
  ids: RunIds;
  frames: StreamFrame[];
  statements: number;
}

const isAlive = ({ child }: PlatformServer): boolean => child.exitCode === null && child.signalCode === null;

async function expectExactlyOnce({ ids, frames }: Outcome): Promise<void> {
  const run = await client.read(ids);
  expect(run).toMatchObject({ status: "FINISHED", result: "All done." });
  expect(frames.filter(({ event }) => event === "result")).toHaveLength(1);
  const stored = await harness.database.query<{ seq: number; event: string; event_id: string }>(
    "select seq::int, event, event_id from frames where run_id = $1 order by seq",
    [ids.runId],
  );
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
  const withoutDone = stored.filter(({ event }) => event !== "done");
  const seen = frames.filter(({ event }) => event !== "done");
  expect(seen.map(({ id, event }) => [id, event])).toEqual(withoutDone.map(({ event_id, event }) => [event_id, event]));
  const begun = frames.filter(({ event, data }) => event === "tool_call" && data.status === "running");
  const settled = frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");
  expect(begun).toHaveLength(steps.length);
  expect(settled.map(({ data }) => data.callId)).toEqual(begun.map(({ data }) => data.callId));
  const unknown = settled.filter(({ data }) => JSON.stringify(data).includes("outcome of this call is unknown"));
  expect(unknown.length).toBeLessThanOrEqual(1);
  const [agent] = await harness.database.query<{ directory: string }>("select directory from agents where id = $1", [
    ids.agentId,
  ]);
  const workspace = join(harness.data, "workspaces", agent?.directory ?? expect.fail("no agent"));
  const journal = readFileSync(join(workspace, "sample/journal.txt"), "utf8").trim();
  const lines = journal.split("\n");
  expect(new Set(lines).size, `done twice: ${lines}`).toBe(lines.length);
  expect(lines.length).toBeGreaterThanOrEqual(2 - unknown.length);
  await expectHandedOffOnce(ids);
  await expectOneChild(ids);
}

async function expectHandedOffOnce({ agentId }: RunIds): Promise<void> {
  const [handoff] = await harness.database.query<{ branch: string; state: string; pr_url: string | null }>(
    "select branch, state, pr_url from handoffs where agent_id = $1",
    [agentId],
  );
  expect(handoff).toMatchObject({ state: "done", pr_url: expect.any(String) });
  const branch = handoff?.branch;
  const pulls = await harness.database.query("select number from pull_requests where head_branch = $1", [branch]);
  expect(pulls).toHaveLength(1);
  const hosted = join(harness.data, "repositories");
  const { stdout: found } = await run("find", [hosted, "-name", "HEAD", "-maxdepth", "3"]);
  const bare = found.trim().replace(/\/HEAD$/, "");
  const { stdout } = await run("git", ["--git-dir", bare, "rev-list", "--count", `main..${branch}`]);
  expect(stdout.trim()).toBe("1");
}

async function expectOneChild({ agentId }: RunIds): Promise<void> {
  const children = await harness.database.query("select id from threads where parent_id = $1", [agentId]);
  expect(children).toHaveLength(1);
}

const run = promisify(execFile);

describe("kill -9 of the server at a statement that changes the database, then a new one", () => {
  const most = 60;
  const all = Array.from({ length: most }, (_, index) => index + 1).flatMap((at) =>
    (["before", "sent"] as const).map((when): Kill => ({ at, when })),
  );
  const sample = all.filter((_, index) => index % 17 === 3);
  const kills = process.env.SWEEP === "full" ? all : sample;

  test("without a kill it takes at least forty statements", async () => {
    const outcome = await runWithKill({ at: 0, when: "before" });
    await expectExactlyOnce(outcome);
    // A slow machine flushes more often, so it may also be a few more than the sweep kills at.
    expect(outcome.statements).toBeGreaterThanOrEqual(40);
  });

  test.each(kills)("$when $at", async (kill) => {
    await expectExactlyOnce(await runWithKill(kill));
  });
});
