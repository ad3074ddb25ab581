// GitHub failures during a run: renamed or unusual repositories, rate limits and suspended apps.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openGithub, readAdvertisement } from "../../src/repositories/scm/index.ts";
import { never } from "./git-harness.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffHarness, openHandoffHarness, type TestAgent } from "./handoff-harness.ts";

let fake: FakeGithub;
let harness: HandoffHarness;

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  harness = await openHandoffHarness({ github: openGithub(await githubSettings(fake), {}), reviewers: ["ada"] });
});
afterAll(async () => {
  await harness.close();
  expect(fake.violations).toEqual([]);
  await fake.close();
});
beforeEach(() => {
  fake.requests.length = 0;
});

let count = 0;

async function scene(): Promise<{ shop: FakeRepository; url: string; agent: TestAgent }> {
  count += 1;
  const shop = await fake.addRepository(`acme/odd-${count}`, { collaborators: ["ada"] });
  const url = `${fake.url}/acme/odd-${count}`;
  const agent = await harness.agent([{ url }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  return { shop, url, agent };
}

const operations = (name: string) => fake.requests.filter(({ operation }) => operation === name);

test("a repository without draft support gets a regular pull request, with the reason", async () => {
  const { shop, agent } = await scene();
  shop.allowsDrafts = false;
  expect((await agent.finish("One")).faults).toEqual([]);
  const note = "_Ready for review from the beginning: this repository does not take draft pull requests._";
  const bodyWith = (results: string) =>
    expect.stringMatching(new RegExp(`^${results}\\n\\n## Verified\\n[^]*\\n\\n${note}$`));
  expect(shop.pulls).toMatchObject([{ isDraft: false, body: bodyWith("One") }]);
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await agent.finish("Two");
  expect(shop.pulls).toMatchObject([{ body: bodyWith("One\n\n---\n\nTwo") }]);
  const [pull] = shop.pulls;
  if (pull) pull.body = "Rewritten by a person";
  writeFileSync(join(agent.workspace.root, "three"), "three");
  await agent.finish("Three");
  expect(shop.pulls).toMatchObject([{ body: "Rewritten by a person" }]);
});

test.each([
  ["renamed", "acme/new-name"],
  ["transferred", "other/new-owner"],
])("a repository that was %s during a run is found at its new address", async (_how, name) => {
  const { shop, agent } = await scene();
  await shop.rename(name);
  const { faults, branches } = await agent.finish("One");
  expect(faults).toEqual([]);
  expect(branches).toMatchObject([{ prUrl: `${fake.url}/${name}/pull/1` }]);
  expect(shop.pulls).toMatchObject([{ requests: [["ada"]] }]);
  writeFileSync(join(agent.workspace.root, "two"), "two");
  expect((await agent.finish("Two")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
});

test("a token for a renamed repository is restricted to its current name", async () => {
  const { shop, url } = await scene();
  await shop.rename("acme/long-ago");
  for (const grant of fake.grants) grant.isRevoked = true;
  fake.requests.length = 0;
  const fresh = openGithub(await githubSettings(fake), {});
  const other = await openHandoffHarness({ github: fresh });
  const agent = await other.agent([{ url }]);
  expect(agent.workspace.repositories).toHaveLength(1);
  expect(operations("apps/create-installation-access-token").map(({ body }) => body)).toMatchObject([
    { repositories: [expect.stringContaining("odd-")] },
    { permissions: { metadata: "read" } },
    { repositories: ["long-ago"] },
  ]);
  const wide = operations("apps/create-installation-access-token")[1]?.body;
  expect(wide).toEqual({ permissions: { metadata: "read" } });
  await other.close();
});

test("a suspended installation is reported at the start and at the end of a run", async () => {
  const { shop, url, agent } = await scene();
  shop.isSuspended = true;
  for (const grant of fake.grants) grant.isRevoked = true;
  const { faults } = await agent.finish("One");
  expect(faults).toMatchObject([
    { code: "repository_unreachable", message: expect.stringContaining("This installation has been suspended") },
  ]);
  await expect(harness.agent([{ url }])).rejects.toMatchObject({ code: "repository_unreachable" });
  shop.isSuspended = false;
  expect((await agent.again()).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
});

test("an empty repository is reported as having no commit to start from", async () => {
  const shop = await fake.addRepository("acme/empty");
  for (const name of (await shop.git("for-each-ref", "--format=%(refname)")).split("\n"))
    await shop.git("update-ref", "-d", name);
  await expect(harness.agent([{ url: `${fake.url}/acme/empty` }])).rejects.toMatchObject({ code: "ref_not_found" });
});

test("the default branch need not be main", async () => {
  const shop = await fake.addRepository("acme/trunk", { collaborators: ["ada"] });
  await shop.git("branch", "-m", "main", "trunk");
  const url = `${fake.url}/acme/trunk`;
  const agent = await harness.agent([{ url }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ base: "trunk" }]);
  const { defaultBranch } = await readAdvertisement(await harness.sources.open(1, url), 30_000, never());
  expect(defaultBranch).toBe("trunk");
});

test("an existing reviewer is found beyond the first page", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One", { asksForReview: false });
  const [pull] = shop.pulls;
  if (pull === undefined) throw new Error("no pull request");
  const review = (author: string) => ({ event: "COMMENT", body: "x", author, comments: [] });
  pull.reviews = [...Array.from({ length: 100 }, (_, index) => review(`person-${index}`)), review("ada")];
  const host = await harness.sources.open(1, agent.workspace.repositories[0]?.url ?? "");
  await host.pullRequests?.requestReviewers(1, ["ada"], never());
  expect(pull.requests).toEqual([]);
  expect(operations("pulls/list-reviews")).toHaveLength(2);
});

test("a rate-limited request is retried after the given delay, even if it must not be sent twice", async () => {
  const { agent, shop } = await scene();
  await agent.finish("One");
  const { pullRequests } = await harness.sources.open(1, agent.workspace.repositories[0]?.url ?? "");
  const limited = { message: "You have exceeded a secondary rate limit" };
  fake.planResponse({
    operation: "issues/create-comment",
    response: { status: 403, body: limited, headers: { "retry-after": "1" } },
  });
  await pullRequests?.comment(1, { author: "a", body: "Once" }, never());
  expect(shop.pulls[0]?.comments).toEqual([{ body: "Once" }]);
  const reset = String(Math.floor(Date.now() / 1_000));
  fake.planResponse({
    operation: "issues/create-comment",
    response: {
      status: 403,
      body: { message: "API rate limit exceeded" },
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset },
    },
  });
  await pullRequests?.comment(1, { author: "a", body: "Twice" }, never());
  expect(shop.pulls[0]?.comments).toHaveLength(2);
  const hour = String(Math.floor(Date.now() / 1_000) + 3_600);
  fake.planResponse({
    operation: "issues/create-comment",
    response: {
      status: 429,
      body: { message: "API rate limit exceeded" },
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": hour },
    },
  });
  await expect(pullRequests?.comment(1, { author: "a", body: "Never" }, never())).rejects.toThrow("try again later");
  fake.planResponse({ operation: "issues/create-comment", response: "execute, then disconnect" });
  await expect(pullRequests?.comment(1, { author: "a", body: "Unheard" }, never())).rejects.toThrow(
    "GitHub is failing",
  );
  expect(shop.pulls[0]?.comments.map(({ body }) => body)).toEqual(["Once", "Twice", "Unheard"]);
});

test("an error contains no token at any depth", async () => {
  const { agent, shop } = await scene();
  await agent.finish("One");
  const { pullRequests } = await harness.sources.open(1, agent.workspace.repositories[0]?.url ?? "");
  fake.planResponse({ operation: "pulls/list", response: { status: 403, body: { message: "Forbidden" } } });
  const fault = await pullRequests?.find({ head: "x", base: "main" }, never()).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(Error);
  const text = inspect(fault, { depth: null, showHidden: true });
  const tokens = fake.grants.filter(({ repositories }) => repositories?.includes(shop.name)).map(({ token }) => token);
  expect(tokens.length).toBeGreaterThan(0);
  for (const token of tokens) expect(text).not.toContain(token);
});
