// Checks on the commits of runs: created once, completed once, and never blocking a hand-off.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunStatus } from "../../src/foundation/db/index.ts";
import { openGithub } from "../../src/repositories/scm/index.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffHarness, openHandoffHarness, type TestAgent } from "./handoff-harness.ts";

let fake: FakeGithub;
let harness: HandoffHarness;
const installed = { contents: "write", pull_requests: "write", metadata: "read", checks: "write" };

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  harness = await openHandoffHarness({ github: openGithub(await githubSettings(fake), {}) });
});
afterAll(async () => {
  await harness.close();
  expect(fake.violations).toEqual([]);
  await fake.close();
});
beforeEach(() => {
  fake.grantApp(installed);
  fake.requests.length = 0;
});

let count = 0;

async function scene(on = harness): Promise<{ shop: FakeRepository; agent: TestAgent; tip(): Promise<string> }> {
  count += 1;
  const shop = await fake.addRepository(`acme/checked-${count}`, { collaborators: ["ada"] });
  const agent = await on.agent([{ url: `${fake.url}/acme/checked-${count}` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  return { shop, agent, tip: () => shop.git("rev-parse", agent.workspace.repositories[0]?.branch ?? "") };
}

/** Hands off a run that is still running for the platform. */
async function finishOpenRun(agent: TestAgent): Promise<string> {
  const { runId } = await agent.end("One");
  await setStatus(runId, "RUNNING");
  expect((await agent.again()).faults).toEqual([]);
  return runId;
}

const setStatus = (runId: string, status: RunStatus) =>
  harness.db.updateTable("runs").set({ status }).where("id", "=", runId).execute();

const rows = (runId: string) =>
  harness.db.selectFrom("handoff_checks").selectAll().where("run_id", "=", runId).execute();

const makeDue = () => harness.db.updateTable("handoff_checks").set({ due_at: new Date() }).execute();

test.each<[RunStatus, string, string]>([
  ["FINISHED", "success", "The run has finished"],
  ["ERROR", "failure", "The run has failed"],
  ["CANCELLED", "cancelled", "The run was cancelled"],
  ["EXPIRED", "neutral", "The run has expired: it reached a limit of time"],
])(
  "a run that becomes %s has a check that was in progress before, with the conclusion %s",
  async (status, conclusion, title) => {
    const { shop, agent, tip } = await scene();
    const runId = await finishOpenRun(agent);
    await harness.showChecks();
    const shown = {
      external_id: runId,
      head_sha: await tip(),
      details_url: `https://platform.example/agents/${agent.id}`,
    };
    expect(shop.checks).toMatchObject([{ ...shown, status: "in_progress", conclusion: null }]);
    await harness.showChecks();
    await setStatus(runId, status);
    await harness.showChecks();
    await harness.showChecks();
    const output = { title, summary: "What it found" };
    expect(shop.checks).toMatchObject([{ ...shown, status: "completed", conclusion, output }]);
    expect(await rows(runId)).toMatchObject([{ state: "ended" }]);
  },
);

test("follow-ups have separate checks on their new commits, and none without a new commit", async () => {
  const { shop, agent, tip } = await scene();
  await agent.finish("One");
  const first = await tip();
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await agent.finish("Two");
  await agent.finish("Nothing new");
  await harness.showChecks();
  expect(shop.checks.map(({ head_sha }) => head_sha).sort()).toEqual([first, await tip()].sort());
});

test("a lost response does not cause a second check", async () => {
  const { shop, agent } = await scene();
  fake.planResponse({ operation: "checks/create", response: "execute, then disconnect" });
  const { runId } = await agent.end("One");
  await agent.again();
  await harness.showChecks();
  expect(await rows(runId)).toMatchObject([{ state: "wanted", attempts: 1 }]);
  await makeDue();
  await harness.showChecks();
  expect(shop.checks).toMatchObject([{ conclusion: "success" }]);
  expect(await rows(runId)).toMatchObject([{ state: "ended" }]);
});

test("of several servers, one creates the check", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  await Promise.all(Array.from({ length: 5 }, () => harness.showChecks()));
  expect(shop.checks).toHaveLength(1);
});

test("an existing check is found beyond the first page", async () => {
  const { shop, agent, tip } = await scene();
  const runId = await finishOpenRun(agent);
  await harness.showChecks();
  const [own] = shop.checks;
  if (own === undefined) throw new Error("no check");
  const other = (_: unknown, index: number) => ({ ...own, id: 900_000 + index, external_id: `other-${index}` });
  shop.checks.unshift(...Array.from({ length: 230 }, other));
  await setStatus(runId, "FINISHED");
  await harness.showChecks();
  expect(shop.checks).toHaveLength(231);
  expect(shop.checks.at(-1)).toMatchObject({ external_id: runId, head_sha: await tip(), conclusion: "success" });
});

test("an installation without the permission gets no check, and its hand-off still succeeds", async () => {
  const { checks: _checks, ...without } = installed;
  fake.grantApp(without);
  const { shop, agent } = await scene();
  expect((await agent.finish("One")).faults).toEqual([]);
  const minted = fake.requests.filter(({ operation }) => operation === "apps/create-installation-access-token");
  expect(minted.map(({ status, body }) => ({ status, body }))).toEqual([
    { status: 201, body: { repositories: [shop.name], permissions: without } },
  ]);
  await harness.showChecks();
  expect(shop.checks).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  const asked = fake.requests.length;
  await makeDue();
  await harness.showChecks();
  expect(fake.requests).toHaveLength(asked);
});

test("no check is attempted with a personal access token, which cannot create any", async () => {
  const credentials = { kind: "token", variable: "GH" } as const;
  const github = openGithub({ baseUrl: fake.apiUrl, client: null, credentials }, { GH: fake.addToken("ada") });
  const other = await openHandoffHarness({ github });
  const { shop, agent } = await scene(other);
  expect((await agent.finish("One")).faults).toEqual([]);
  await other.showChecks();
  expect(shop.checks).toEqual([]);
  expect(fake.requests.filter(({ operation }) => operation.startsWith("checks/"))).toEqual([]);
  await other.close();
});

test("a failing host is retried with growing delays, then given up", async () => {
  const { agent } = await scene();
  const { runId } = await agent.end("One");
  await agent.again();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    fake.planResponse({ operation: "checks/list-for-ref", response: { status: 410, body: { message: "Gone" } } });
    await makeDue();
    const before = Date.now();
    await harness.showChecks();
    const [row] = await rows(runId);
    pauses.push(Math.round(((row?.due_at.getTime() ?? 0) - before) / 30_000));
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128]);
  expect(await rows(runId)).toMatchObject([{ state: "ended", attempts: 8 }]);
});

test("checks are deleted with their agent", async () => {
  const { agent } = await scene();
  const { runId } = await agent.end("One");
  await agent.again();
  await harness.db.deleteFrom("agents").where("id", "=", agent.id).execute();
  expect(await rows(runId)).toEqual([]);
});
