// Checks on the commits of runs: shown once, ended once, and never in the way of a hand-off.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunStatus } from "../src/db/index.ts";
import { openGithub } from "../src/scm/index.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffBench, handoffBench, type TestAgent } from "./handoff-bench.ts";

let fake: FakeGithub;
let bench: HandoffBench;
const installed = { contents: "write", pull_requests: "write", metadata: "read", checks: "write" };

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  bench = await handoffBench({ github: openGithub(await githubSettings(fake), {}) });
}, 120_000);
afterAll(async () => {
  await bench.close();
  expect(fake.complaints).toEqual([]);
  await fake.close();
});
beforeEach(() => {
  fake.grantApp(installed);
  fake.asked.length = 0;
});

let count = 0;

async function scene(on = bench): Promise<{ shop: FakeRepository; agent: TestAgent; tip(): Promise<string> }> {
  count += 1;
  const shop = await fake.addRepository(`acme/checked-${count}`, { collaborators: ["ada"] });
  const agent = await on.agent([{ url: `${fake.url}/acme/checked-${count}` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  return { shop, agent, tip: () => shop.git("rev-parse", agent.workspace.repositories[0]?.branch ?? "") };
}

/** Hands off a run that the platform has not ended yet. */
async function finishOpenRun(agent: TestAgent): Promise<string> {
  const { runId } = await agent.end("One");
  await setStatus(runId, "RUNNING");
  expect((await agent.again()).faults).toEqual([]);
  return runId;
}

const setStatus = (runId: string, status: RunStatus) =>
  bench.db.updateTable("runs").set({ status }).where("id", "=", runId).execute();

const rows = (runId: string) => bench.db.selectFrom("handoff_checks").selectAll().where("run_id", "=", runId).execute();

const makeDue = () => bench.db.updateTable("handoff_checks").set({ due_at: new Date() }).execute();

test.each<[RunStatus, string, string]>([
  ["FINISHED", "success", "The run has finished"],
  ["ERROR", "failure", "The run ended with an error"],
  ["CANCELLED", "cancelled", "The run was cancelled"],
  ["EXPIRED", "neutral", "The run took too long"],
])(
  "a run that is %s at last has a check that was in progress before, and says %s",
  async (status, conclusion, title) => {
    const { shop, agent, tip } = await scene();
    const runId = await finishOpenRun(agent);
    await bench.showChecks();
    const shown = {
      external_id: runId,
      head_sha: await tip(),
      details_url: `https://platform.example/agents/${agent.id}`,
    };
    expect(shop.checks).toMatchObject([{ ...shown, status: "in_progress", conclusion: null }]);
    await bench.showChecks();
    await setStatus(runId, status);
    await bench.showChecks();
    await bench.showChecks();
    const output = { title, summary: "What it said" };
    expect(shop.checks).toMatchObject([{ ...shown, status: "completed", conclusion, output }]);
    expect(await rows(runId)).toMatchObject([{ state: "ended" }]);
  },
);

test("follow-ups have checks of their own on their own commits, and none where nothing is new", async () => {
  const { shop, agent, tip } = await scene();
  await agent.finish("One");
  const first = await tip();
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await agent.finish("Two");
  await agent.finish("Nothing new");
  await bench.showChecks();
  expect(shop.checks.map(({ head_sha }) => head_sha).sort()).toEqual([first, await tip()].sort());
});

test("an answer that was lost does not make a second check", async () => {
  const { shop, agent } = await scene();
  fake.surprise({ operation: "checks/create", answer: "carry out, then hang up" });
  const { runId } = await agent.end("One");
  await agent.again();
  await bench.showChecks();
  expect(await rows(runId)).toMatchObject([{ state: "wanted", attempts: 1 }]);
  await makeDue();
  await bench.showChecks();
  expect(shop.checks).toMatchObject([{ conclusion: "success" }]);
  expect(await rows(runId)).toMatchObject([{ state: "ended" }]);
});

test("of several servers one shows it", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  await Promise.all(Array.from({ length: 5 }, () => bench.showChecks()));
  expect(shop.checks).toHaveLength(1);
});

test("it is found among more than a page of others", async () => {
  const { shop, agent, tip } = await scene();
  const runId = await finishOpenRun(agent);
  await bench.showChecks();
  const [own] = shop.checks;
  if (own === undefined) throw new Error("no check");
  const other = (_: unknown, index: number) => ({ ...own, id: 900_000 + index, external_id: `other-${index}` });
  shop.checks.unshift(...Array.from({ length: 230 }, other));
  await setStatus(runId, "FINISHED");
  await bench.showChecks();
  expect(shop.checks).toHaveLength(231);
  expect(shop.checks.at(-1)).toMatchObject({ external_id: runId, head_sha: await tip(), conclusion: "success" });
});

test("an installation without the permission gets no check, and its hand-off is none the worse", async () => {
  const { checks: _checks, ...without } = installed;
  fake.grantApp(without);
  const { shop, agent } = await scene();
  expect((await agent.finish("One")).faults).toEqual([]);
  const minted = fake.asked.filter(({ operation }) => operation === "apps/create-installation-access-token");
  expect(minted.map(({ status, body }) => ({ status, body }))).toEqual([
    { status: 201, body: { repositories: [shop.name], permissions: without } },
  ]);
  await bench.showChecks();
  expect(shop.checks).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  const asked = fake.asked.length;
  await makeDue();
  await bench.showChecks();
  expect(fake.asked).toHaveLength(asked);
});

test("a plain token, which may not make any, does not try", async () => {
  const credentials = { kind: "token", variable: "GH" } as const;
  const github = openGithub({ baseUrl: fake.apiUrl, client: null, credentials }, { GH: fake.addToken("ada") });
  const other = await handoffBench({ github });
  const { shop, agent } = await scene(other);
  expect((await agent.finish("One")).faults).toEqual([]);
  await other.showChecks();
  expect(shop.checks).toEqual([]);
  expect(fake.asked.filter(({ operation }) => operation.startsWith("checks/"))).toEqual([]);
  await other.close();
});

test("a host that fails is asked again, ever later, and at last no more", async () => {
  const { agent } = await scene();
  const { runId } = await agent.end("One");
  await agent.again();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    fake.surprise({ operation: "checks/list-for-ref", answer: { status: 410, body: { message: "Gone" } } });
    await makeDue();
    const before = Date.now();
    await bench.showChecks();
    const [row] = await rows(runId);
    pauses.push(Math.round(((row?.due_at.getTime() ?? 0) - before) / 30_000));
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128]);
  expect(await rows(runId)).toMatchObject([{ state: "ended", attempts: 8 }]);
});

test("checks go with their agent", async () => {
  const { agent } = await scene();
  const { runId } = await agent.end("One");
  await agent.again();
  await bench.db.deleteFrom("agents").where("id", "=", agent.id).execute();
  expect(await rows(runId)).toEqual([]);
});
