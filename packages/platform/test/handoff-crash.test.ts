// Kills a hand-off at everything it does to the world, does it again, and expects one commit, one push, one pull request.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundled } from "./bundled.ts";
import { identity } from "./git-bench.ts";
import { type HandoffBench, handoffBench, type Shop, type TestAgent } from "./handoff-bench.ts";
import type { ChildTask } from "./handoff-child.ts";
import { userGit } from "./host-bench.ts";

let bench: HandoffBench;

beforeAll(async () => {
  bench = await handoffBench();
});
afterAll(() => bench.close());

interface Scene {
  shop: Shop;
  agent: TestAgent;
  task: ChildTask;
}

/** A second run of an agent: with a commit of its own, and with changes that it left. */
async function scene(): Promise<Scene> {
  const shop = await bench.shop();
  await shop.git("config", "core.logAllRefUpdates", "always");
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeFileSync(join(root, "own.txt"), "own\n");
  await userGit(root, "add", "own.txt");
  await userGit(root, "commit", "--quiet", "--message=Own");
  writeFileSync(join(root, "left.txt"), "left\n");
  const { runId, story } = await agent.end("Left");
  const task: ChildTask = {
    databaseUrl: bench.databaseUrl,
    data: bench.data,
    serverUrl: bench.url,
    runId,
    identity,
    github: null,
    reviewers: [],
    story: { ...story, endedAt: story.endedAt.toISOString() },
  };
  return { shop, agent, task };
}

async function runChild(task: ChildTask, killAt: number, log: string): Promise<NodeJS.Signals | number | null> {
  const program = await bundled("handoff-child.ts");
  const child = spawn(
    process.execPath,
    ["--require", join(import.meta.dirname, "kill-at-step.cjs"), program, JSON.stringify(task)],
    {
      env: { ...process.env, KILL_AT: String(killAt), KILL_LOG: log },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
}

async function expectOneOfEach({ shop, agent }: Scene, where: string): Promise<void> {
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "--format=%s", `main..${branch}`), where).toBe("Left\nOwn");
  const pushes = readFileSync(join(shop.directory, "logs/refs/heads", branch), "utf8")
    .trim()
    .split("\n");
  expect(pushes, where).toHaveLength(1);
  const { body } = await bench.ask("GET", `/git/${shop.name}/pulls`);
  expect(body, where).toMatchObject({ items: [{ number: 1, head: branch, state: "open", draft: true }] });
  expect((body as { items: unknown[] }).items, where).toHaveLength(1);
  expect(await userGit(agent.workspace.root, "status", "--porcelain"), where).toBe("");
  expect(await userGit(agent.workspace.root, "rev-parse", "HEAD"), where).toBe(await shop.git("rev-parse", branch));
}

test("a hand-off that is killed anywhere and done again has done everything once", { timeout: 900_000 }, async () => {
  const log = join(bench.data, "steps.log");
  const whole = await scene();
  expect(await runChild(whole.task, 0, log)).toBe(0);
  await expectOneOfEach(whole, "not killed");
  const steps = readFileSync(log, "utf8").trim().split("\n");
  expect(steps.length).toBeGreaterThan(40);
  expect(steps.some((step) => step.endsWith("after push"))).toBe(true);
  for (const killAt of pointsOf(steps.length)) {
    const killed = await scene();
    expect(await runChild(killed.task, killAt, join(bench.data, "ignored.log"))).toBe("SIGKILL");
    const where = `killed at ${steps[killAt - 1]}`;
    const done = await killed.agent.again();
    expect(done.faults, where).toEqual([]);
    await expectOneOfEach(killed, where);
  }
});

/** All of them in the long run; else a few, not the same ones each day. */
function pointsOf(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (process.env.SWEEP === "full") return all;
  const stride = 6;
  const first = Math.floor(Date.now() / 86_400_000) % stride;
  return all.filter((point) => point % stride === first);
}
