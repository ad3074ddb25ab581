// Kills a hand-off at everything it does to the world, does it again, and expects one commit, one push, one pull request,
// and one question to reviewers.
import { execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GithubSettings } from "../src/config/index.ts";
import { openGithub } from "../src/scm/index.ts";
import { bundled } from "./bundled.ts";
import { identity } from "./git-bench.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffBench, handoffBench, type TestAgent } from "./handoff-bench.ts";
import type { ChildTask } from "./handoff-child.ts";
import { userGit } from "./host-bench.ts";

const reviewers = ["ada"];
let fake: FakeGithub;
let github: GithubSettings;
let bench: HandoffBench;

beforeAll(async () => {
  fake = await startGithub();
  github = await githubSettings(fake);
  bench = await handoffBench({ github: openGithub(github, {}), reviewers });
});
afterAll(async () => {
  await bench.close();
  await fake.close();
});

interface Shop {
  url: string;
  directory: string;
  git(...args: string[]): Promise<string>;
  /** Head, whether it is an open draft, and each question to reviewers. */
  pulls(): Promise<{ head: string; isOpenDraft: boolean; requests: string[][] }[]>;
}

async function embeddedShop(): Promise<Shop> {
  const shop = await bench.shop();
  await shop.git("config", "core.logAllRefUpdates", "always");
  interface Listed {
    items: { head: string; state: string; draft: boolean }[];
  }
  return {
    ...shop,
    async pulls() {
      const { items } = (await bench.ask("GET", `/git/${shop.name}/pulls`)).body as Listed;
      return items.map(({ head, state, draft }) => ({ head, isOpenDraft: state === "open" && draft, requests: [] }));
    },
  };
}

let count = 0;

async function githubShop(): Promise<Shop> {
  count += 1;
  const name = `acme/shop-${count}`;
  const { directory, git, pulls } = await fake.addRepository(name, { collaborators: reviewers });
  return {
    url: `${fake.url}/${name}`,
    directory,
    git,
    pulls: async () =>
      pulls.map(({ head, state, isDraft, requests }) => ({ head, isOpenDraft: state === "open" && isDraft, requests })),
  };
}

interface Scene {
  shop: Shop;
  agent: TestAgent;
  task: ChildTask;
}

/** An agent with a commit of its own, and with changes that it left. */
async function sceneOn(shop: Shop): Promise<Scene> {
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeFileSync(join(root, "own.txt"), "own\n");
  await userGit(root, "add", "own.txt");
  await promisify(execFile)("git", ["commit", "--quiet", "--message=Own"], { cwd: root });
  writeFileSync(join(root, "left.txt"), "left\n");
  const { runId, story } = await agent.end("Left");
  const task: ChildTask = {
    databaseUrl: bench.databaseUrl,
    data: bench.data,
    serverUrl: bench.url,
    runId,
    identity,
    github,
    reviewers,
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

async function expectOneOfEach({ shop, agent }: Scene, requests: string[][], where: string): Promise<void> {
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "--format=%s", `main..${branch}`), where).toBe("Left\nOwn");
  expect(await shop.git("for-each-ref", "--format=%(refname:short)", "refs/heads/platform"), where).toBe(branch);
  const pushes = readFileSync(join(shop.directory, "logs/refs/heads", branch), "utf8")
    .trim()
    .split("\n");
  expect(pushes, where).toHaveLength(1);
  expect(await shop.pulls(), where).toEqual([{ head: branch, isOpenDraft: true, requests }]);
  expect(await userGit(agent.workspace.root, "status", "--porcelain"), where).toBe("");
  expect(await userGit(agent.workspace.root, "rev-parse", "HEAD"), where).toBe(await shop.git("rev-parse", branch));
}

const hosts: [string, () => Promise<Shop>, string[][]][] = [
  ["the embedded host", embeddedShop, []],
  ["GitHub", githubShop, [reviewers]],
];

describe.each(hosts)("on %s", (name, makeShop, requests) => {
  test("a hand-off that is killed anywhere and done again has done everything once", { timeout: 900_000 }, async () => {
    const log = join(bench.data, `steps of ${name}`);
    const whole = await sceneOn(await makeShop());
    expect(await runChild(whole.task, 0, log)).toBe(0);
    await expectOneOfEach(whole, requests, "not killed");
    const steps = readFileSync(log, "utf8").trim().split("\n");
    expect(steps.length).toBeGreaterThan(40);
    expect(steps.some((step) => step.endsWith("after push"))).toBe(true);
    for (const killAt of pointsOf(steps)) {
      const killed = await sceneOn(await makeShop());
      expect(await runChild(killed.task, killAt, join(bench.data, "ignored.log"))).toBe("SIGKILL");
      const where = `killed at ${steps[killAt - 1]}`;
      const done = await killed.agent.again();
      expect(done.faults, where).toEqual([]);
      await expectOneOfEach(killed, requests, where);
    }
  });
});

/** All of them in the long run; else after what cannot be taken back, and a few more, not the same ones each day. */
function pointsOf(steps: string[]): number[] {
  const all = steps.map((_step, index) => index + 1);
  if (process.env.SWEEP === "full") return all;
  const stride = 9;
  const first = Math.floor(Date.now() / 86_400_000) % stride;
  return all.filter(
    (point) => point % stride === first || / after (?:push|POST \/pulls\b)/.test(steps[point - 1] ?? ""),
  );
}
