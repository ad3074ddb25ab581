// Kills a hand-off at each external action, repeats it, and expects one commit, one push, one pull request,
// one review request and one check.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sampleOf } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GithubSettings } from "../../src/foundation/config/index.ts";
import type { HandedOff } from "../../src/repositories/handoff/index.ts";
import { openGithub } from "../../src/repositories/scm/index.ts";
import { programsOfTests } from "../harness/bundled.ts";
import { identity } from "./git-harness.ts";
import { userGit } from "./git-host-harness.ts";
import { githubSettings } from "./github-settings.ts";
import type { ChildTask } from "./handoff-child.ts";
import { type HandoffHarness, openHandoffHarness, type TestAgent } from "./handoff-harness.ts";

const bundled = programsOfTests();

const reviewers = ["ada"];
const opener = "bob";
let personToken: string;
let fake: FakeGithub;
let github: GithubSettings;
let harness: HandoffHarness;

beforeAll(async () => {
  fake = await startGithub();
  github = await githubSettings(fake);
  personToken = fake.addToken(opener);
  const person = { token: async () => personToken, disconnected: () => new Error("no such token") };
  harness = await openHandoffHarness({ github: openGithub(github, {}), reviewers, person });
});
afterAll(async () => {
  await harness.close();
  await fake.close();
});

interface Shop {
  url: string;
  directory: string;
  git(...args: string[]): Promise<string>;
  /** Head, whether it is an open draft, and each review request. */
  pulls(): Promise<{ head: string; isOpenDraft: boolean; requests: string[][] }[]>;
  /** Each check with its commit and conclusion. */
  checks(): string[];
}

async function embeddedShop(): Promise<Shop> {
  const shop = await harness.shop();
  interface Listed {
    items: { head: string; state: string; draft: boolean }[];
  }
  return {
    ...shop,
    checks: () => [],
    async pulls() {
      const { items } = (await harness.ask("GET", `/git/${shop.name}/pulls`)).body as Listed;
      return items.map(({ head, state, draft }) => ({ head, isOpenDraft: state === "open" && draft, requests: [] }));
    },
  };
}

let count = 0;

async function githubShop(): Promise<Shop> {
  count += 1;
  const name = `acme/shop-${count}`;
  const { directory, git, pulls, checks } = await fake.addRepository(name, { collaborators: [...reviewers, opener] });
  return {
    url: `${fake.url}/${name}`,
    directory,
    git,
    checks: () => checks.map(({ head_sha, conclusion }) => `${head_sha} ${conclusion}`),
    pulls: async () =>
      pulls.map(({ head, state, isDraft, requests }) => ({ head, isOpenDraft: state === "open" && isDraft, requests })),
  };
}

type Opener = "the platform" | "a person";

interface Scene {
  shop: Shop;
  agent: TestAgent;
  task: ChildTask;
}

/** Git notes changes of a branch in a file that is there. */
const pushesOf = ({ shop, agent }: Pick<Scene, "shop" | "agent">) =>
  join(shop.directory, "logs/refs/heads", agent.workspace.repositories[0]?.branch ?? "");

/** An agent with one commit and with uncommitted changes. */
async function openScene(shop: Shop, opensAs: Opener): Promise<Scene> {
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const pushes = pushesOf({ shop, agent });
  mkdirSync(dirname(pushes), { recursive: true });
  writeFileSync(pushes, "");
  writeFileSync(join(root, "own.txt"), "own\n");
  await userGit(root, "add", "own.txt");
  await promisify(execFile)("git", ["commit", "--quiet", "--message=Own"], { cwd: root });
  writeFileSync(join(root, "left.txt"), "left\n");
  const { runId, summary } = await agent.end("Left", { opensAsApp: opensAs === "the platform" });
  const task: ChildTask = {
    databaseUrl: harness.databaseUrl,
    data: harness.data,
    serverUrl: harness.url,
    runId,
    identity,
    github,
    reviewers,
    personToken,
    summary: { ...summary, endedAt: summary.endedAt.toISOString() },
  };
  return { shop, agent, task };
}

async function runChild(task: ChildTask, killAt: number, log: string): Promise<NodeJS.Signals | number | null> {
  const program = await bundled("repositories/handoff-child.ts");
  const child = spawn(
    process.execPath,
    ["--require", join(import.meta.dirname, "../harness/kill-at-step.cjs"), program, JSON.stringify(task)],
    {
      env: { ...process.env, KILL_AT: String(killAt), KILL_LOG: log },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
}

interface Expected {
  requests: string[][];
  checks: number;
}

async function expectOneOfEach({ shop, agent }: Scene, expected: Expected, where: string): Promise<void> {
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "--format=%s", `main..${branch}`), where).toBe("Left\nOwn");
  expect(await shop.git("for-each-ref", "--format=%(refname:short)", "refs/heads/platform"), where).toBe(branch);
  const pushes = readFileSync(pushesOf({ shop, agent }), "utf8").trim().split("\n");
  expect(pushes, where).toHaveLength(1);
  const { requests, checks } = expected;
  expect(await shop.pulls(), where).toEqual([{ head: branch, isOpenDraft: true, requests }]);
  const tip = await shop.git("rev-parse", branch);
  expect(shop.checks(), where).toEqual(Array(checks).fill(`${tip} success`));
  expect(await userGit(agent.workspace.root, "status", "--porcelain"), where).toBe("");
  expect(await userGit(agent.workspace.root, "rev-parse", "HEAD"), where).toBe(tip);
}

/** Another server takes over the work of a dead one after a timeout; here it does so at once. */
async function repeatHandoff({ agent }: Scene): Promise<HandedOff> {
  const done = await agent.again();
  await harness.db.updateTable("handoff_checks").set({ due_at: new Date() }).execute();
  await harness.showChecks();
  return done;
}

const hosts: [string, () => Promise<Shop>, Opener, Expected][] = [
  ["the embedded host", embeddedShop, "the platform", { requests: [], checks: 0 }],
  ["GitHub", githubShop, "the platform", { requests: [reviewers], checks: 1 }],
  ["GitHub in the name of a person", githubShop, "a person", { requests: [reviewers], checks: 1 }],
];

describe.each(hosts)("on %s", (name, makeShop, opener, expected) => {
  test("a hand-off that is killed at any step and repeated performs every action once", {
    timeout: 1_800_000,
  }, async () => {
    const log = join(harness.data, `steps of ${name}`);
    const whole = await openScene(await makeShop(), opener);
    expect(await runChild(whole.task, 0, log)).toBe(0);
    await expectOneOfEach(whole, expected, "not killed");
    const steps = readFileSync(log, "utf8").trim().split("\n");
    expect(steps.length).toBeGreaterThan(40);
    expect(steps.some((step) => /after (?:push|update-ref)$/.test(step))).toBe(true);
    const points = pointsOf(steps, name);
    for (const killAt of points) {
      const killed = await openScene(await makeShop(), opener);
      expect(await runChild(killed.task, killAt, join(harness.data, "ignored.log"))).toBe("SIGKILL");
      const where = `killed at ${steps[killAt - 1]}`;
      const done = await repeatHandoff(killed);
      expect(done.faults, where).toEqual([]);
      await expectOneOfEach(killed, expected, where);
    }
    expect(fake.violations).toEqual([]);
  });
});

/** All steps in a full sweep; otherwise a sample per host, of steps after irreversible actions a larger one. */
function pointsOf(steps: string[], name: string): number[] {
  const all = steps.map((_step, index) => index + 1);
  const irreversible = all.filter((point) =>
    / after (?:push|update-ref|POST \/(?:pulls|check-runs)\b)/.test(steps[point - 1] ?? ""),
  );
  const host = hosts.findIndex(([one]) => one === name);
  const needed = sampleOf(irreversible, { every: 2, shift: host });
  return sampleOf(all, { every: 60, shift: 20 * host, isNeeded: (point) => needed.includes(point) });
}
