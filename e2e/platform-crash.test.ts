import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { call, type Reply, say } from "@agentcli/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ids, SentFrame } from "../packages/platform/test/client.ts";
import { readPatiently } from "./patient-reader.ts";
import { type PlatformDesk, type PlatformProcess, platformDesk } from "./platform-desk.ts";

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
  const later = steps.map((step, index) => after(step, named[index + 1] ?? say("All done.", { usage, deltas: 8 })));
  const child: Reply = { ...say("Three files.", { usage }), when: { bodyIncludes: "You count things." } };
  return [child, ...later.toReversed(), ...named.slice(0, 1)];
}

let desk: PlatformDesk;
let server: PlatformProcess;
let repository: string;
beforeAll(async () => {
  desk = await platformDesk({ replies: { replies: script(), repeat: "always" } });
  server = await desk.start();
  repository = await desk.repository("sample", { "README.md": "# Sample\n" });
});
afterAll(() => desk.close());

/** The same agent however often it is asked for: the id is the caller's. */
async function create(agentId: string): Promise<Ids> {
  for (;;) {
    const answer = await desk.client.send("POST", "/v1/agents", body(agentId)).catch(() => null);
    if (answer?.status === 200) return { agentId, runId: JSON.parse(answer.body.toString()).run.id };
    if (answer?.status === 409) {
      const { latestRunId } = await desk.client.get<{ latestRunId: string }>(`/v1/agents/${agentId}`);
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

/** Settles with what a reader saw who was there from the beginning. Whenever the server dies, it is started again. */
async function storyWith({ at, when }: Kill): Promise<Story> {
  await server.killAt(at, when);
  let isOver = false;
  const reviving = (async () => {
    while (!isOver) {
      await Promise.race([server.gone, pause(50)]);
      if (!isAlive(server.pid)) server = await desk.start();
    }
  })();
  const ids = await create(`bc-${randomUUID()}`);
  const frames = await readPatiently(desk.client, ids);
  isOver = true;
  await reviving;
  const statements = server.counted();
  await server.killAt(0, "before").catch(async () => {
    server = await desk.start();
  });
  return { ids, frames, statements };
}

interface Story {
  ids: Ids;
  frames: SentFrame[];
  statements: number;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function expectSound({ ids, frames }: Story): Promise<void> {
  const { db } = desk.database;
  const run = await desk.client.read(ids);
  expect(run).toMatchObject({ status: "FINISHED", result: "All done." });
  expect(frames.filter(({ event }) => event === "result")).toHaveLength(1);
  const stored = await db.selectFrom("frames").selectAll().where("run_id", "=", ids.runId).orderBy("seq").execute();
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
  const journal = readFileSync(join(desk.data, "workspaces", ids.agentId, "sample/journal.txt"), "utf8").trim();
  const lines = journal.split("\n");
  expect(new Set(lines).size, `done twice: ${lines}`).toBe(lines.length);
  expect(lines.length).toBeGreaterThanOrEqual(2 - unknown.length);
  await expectHandedOffOnce(ids);
  await expectOneChild(ids);
}

async function expectHandedOffOnce({ agentId }: Ids): Promise<void> {
  const { db } = desk.database;
  const { branch, state, pr_url } = await db
    .selectFrom("handoffs")
    .selectAll()
    .where("agent_id", "=", agentId)
    .executeTakeFirstOrThrow();
  expect(state).toBe("done");
  expect(pr_url).not.toBeNull();
  const pulls = await db.selectFrom("pull_requests").select("number").where("head_branch", "=", branch).execute();
  expect(pulls).toHaveLength(1);
  const hosted = join(desk.data, "repositories");
  const { stdout: found } = await run("find", [hosted, "-name", "HEAD", "-maxdepth", "3"]);
  const bare = found.trim().replace(/\/HEAD$/, "");
  const { stdout } = await run("git", ["--git-dir", bare, "rev-list", "--count", `main..${branch}`]);
  expect(stdout.trim()).toBe("1");
}

async function expectOneChild({ agentId }: Ids): Promise<void> {
  const children = await desk.database.db.selectFrom("threads").select("id").where("parent_id", "=", agentId).execute();
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
    const story = await storyWith({ at: 0, when: "before" });
    await expectSound(story);
    // A slow machine flushes more often, so it may also be a few more than the sweep kills at.
    expect(story.statements).toBeGreaterThanOrEqual(40);
  });

  test.each(kills)("$when $at", async (kill) => {
    await expectSound(await storyWith(kill));
  });
});
