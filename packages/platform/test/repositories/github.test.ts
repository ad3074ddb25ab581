import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runGit } from "../../src/repositories/git/index.ts";
import { type Github, openGithub, readAdvertisement } from "../../src/repositories/scm/index.ts";
import { never, openGitHarness } from "./git-harness.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffHarness, openHandoffHarness } from "./handoff-harness.ts";

let fake: FakeGithub;
let github: Github;
let harness: HandoffHarness;

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  github = openGithub(await githubSettings(fake), {});
  harness = await openHandoffHarness({ github, reviewers: ["ada", "stranger"] });
});
afterAll(async () => {
  await harness.close();
  await fake.close();
});
beforeEach(() => {
  fake.requests.length = 0;
});

let count = 0;

interface Scene {
  shop: FakeRepository;
  url: string;
  agent: Awaited<ReturnType<HandoffHarness["agent"]>>;
}

async function scene(change = "one"): Promise<Scene> {
  count += 1;
  const shop = await fake.addRepository(`acme/shop-${count}`, { collaborators: ["ada", "bob"] });
  const url = `${fake.url}/acme/shop-${count}`;
  const agent = await harness.agent([{ url }]);
  writeFileSync(join(agent.workspace.root, change), change);
  return { shop, url, agent };
}

const operations = () => fake.requests.map(({ operation }) => operation);

/** All requests and responses matched the OpenAPI description. */
function expectValidExchanges(): void {
  expect(fake.violations).toEqual([]);
}

test("a run becomes a draft pull request, with its user as reviewer", async () => {
  const { shop, url, agent } = await scene();
  const done = await agent.finish("Made it better");
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(done).toEqual({
    branches: [{ repoUrl: url.replace("http://", ""), branch, prUrl: `${url}/pull/1` }],
    faults: [],
  });
  expect(shop.pulls).toMatchObject([
    {
      title: "Made it better",
      body: expect.stringMatching(/^Made it better\n\n## Verified\n/),
      head: branch,
      base: "main",
      isDraft: true,
      author: "platform-app[bot]",
      requests: [["ada"]],
    },
  ]);
  expect(await shop.git("log", "-1", "--format=%s", branch)).toBe("Made it better");
  expectValidExchanges();
});

test("tokens are requested for one repository and the permissions of agents, and cached while valid", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  const minted = fake.requests.filter(({ operation }) => operation === "apps/create-installation-access-token");
  expect(minted).toMatchObject([
    {
      body: {
        repositories: [shop.name],
        permissions: { contents: "write", pull_requests: "write", metadata: "read", checks: "write" },
      },
    },
  ]);
  const other = fake.grants.at(-1);
  expect(other).toMatchObject({ repositories: [shop.name] });
  const [, elsewhere] = await Promise.all([agent.again(), fake.addRepository("acme/elsewhere")]);
  expect(elsewhere.pulls).toEqual([]);
  expect(operations().filter((operation) => operation === "apps/create-installation-access-token")).toHaveLength(1);
});

test("a token about to expire is replaced before use", async () => {
  fake.shortenTokens(9 * 60_000);
  const { shop, agent } = await scene();
  await agent.finish("One");
  fake.shortenTokens(3_600_000);
  const own = () => fake.grants.filter((grant) => grant.repositories?.includes(shop.name));
  expect(own().length).toBeGreaterThan(3);
  writeFileSync(join(agent.workspace.root, "two"), "two");
  const before = own().length;
  await agent.finish("Two");
  expect(own().length).toBe(before + 1);
  expect(fake.requests.filter(({ status }) => status === 401)).toEqual([]);
});

test("a revoked token is replaced", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  for (const grant of fake.grants) grant.isRevoked = true;
  writeFileSync(join(agent.workspace.root, "two"), "two");
  expect((await agent.finish("Two")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  expect(shop.pulls[0]?.body).toMatch(/^One\n\n---\n\nTwo\n\n## Verified\n/);
  expect(fake.grants.filter((grant) => grant.repositories?.includes(shop.name))).toHaveLength(2);
});

test("no token remains in the workspace, in the data directory or in an error message", async () => {
  const { shop, agent } = await scene();
  await shop.git("config", "receive.denyNonFastForwards", "true");
  await shop.git("config", "receive.denyDeletes", "true");
  writeFileSync(
    join(shop.directory, "hooks/pre-receive"),
    "#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n",
    {
      mode: 0o755,
    },
  );
  const { faults, branches } = await agent.finish("One");
  expect(faults).toMatchObject([
    { code: "push_rejected", message: expect.stringContaining("GH006: Protected branch") },
  ]);
  expect(branches[0]?.branch).toBeUndefined();
  const secrets = fake.grants.flatMap(({ token }) => [
    token,
    Buffer.from(`x-access-token:${token}`).toString("base64"),
  ]);
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of secrets) expect(JSON.stringify(faults)).not.toContain(secret);
  for (const entry of readdirSync(harness.data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), "latin1");
    for (const secret of secrets) expect(text.includes(secret), `${entry.parentPath}/${entry.name}`).toBe(false);
  }
});

test("git receives its token through the environment of one call, never as an argument", async () => {
  const { url } = await scene();
  const host = await openHost(url);
  const { address, config, variables } = await host.reach(async (remote) => remote, never());
  const token = fake.grants.at(-1)?.token ?? "";
  expect(JSON.stringify([address, variables])).not.toContain(token);
  expect(config.filter(([key]) => key.endsWith("extraHeader"))).toEqual([
    [`http.${fake.url}/.extraHeader`, expect.stringMatching(/^Authorization: Basic /)],
  ]);
});

const openHost = async (url: string) => {
  const { sources, remove } = await openGitHarness({ github });
  const host = await sources.open(1, url);
  await remove();
  return host;
};

test("follow-ups update the same pull request, and do not request a removed reviewer again", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  const [pull] = shop.pulls;
  if (pull) pull.reviewers = [];
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await agent.finish("Two");
  expect(shop.pulls).toMatchObject([{ reviewers: [], requests: [["ada"]] }]);
  await harness.db
    .updateTable("handoffs")
    .set({ state: "opened", announced_pr_url: null })
    .where("agent_id", "=", agent.id)
    .execute();
  if (pull) pull.reviews = [{ author: "ada", event: "COMMENT", body: "seen", comments: [] }];
  await agent.again();
  expect(shop.pulls).toMatchObject([{ requests: [["ada"]] }]);
  expectValidExchanges();
});

test("no review is requested unless asked for", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One", { asksForReview: false });
  expect(shop.pulls).toMatchObject([{ requests: [] }]);
});

test("a lost response does not cause a second pull request", async () => {
  const { shop, agent } = await scene();
  fake.planResponse({ operation: "pulls/create", response: "execute, then disconnect" });
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  expect(operations().filter((operation) => operation === "pulls/create")).toHaveLength(2);
});

test("a temporary failure or a rate limit is retried", async () => {
  const { shop, agent } = await scene();
  fake.planResponse({ operation: "pulls/list", response: { status: 502, body: { message: "Server Error" } } });
  fake.planResponse({
    operation: "pulls/create",
    response: {
      status: 403,
      body: { message: "You have exceeded a secondary rate limit" },
      headers: { "retry-after": "1" },
    },
  });
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
});

test("a refusal by GitHub is reported with its message and instructions, and the branch stays", async () => {
  const cases: [number, object, RegExp][] = [
    [
      403,
      { message: "Resource not accessible by integration" },
      /Resource not accessible by integration\. Check .*access/,
    ],
    [422, { message: "Validation Failed", errors: [{ field: "base", code: "invalid" }] }, /base is invalid/],
    [403, { message: "API rate limit exceeded" }, /try again later/],
  ];
  for (const [status, body, words] of cases) {
    const { shop, agent } = await scene();
    fake.planResponse({ operation: "pulls/create", response: { status, body } });
    const { branches, faults } = await agent.finish("One");
    expect(faults).toMatchObject([{ code: "pull_request_failed", message: expect.stringMatching(words) }]);
    const branch = branches[0]?.branch ?? "none";
    expect(await shop.git("log", "-1", "--format=%s", branch)).toBe("One");
    expect((await agent.again()).branches[0]?.prUrl).toContain("/pull/1");
  }
});

test("a base branch with a replaced history fails with a clear error", async () => {
  const { shop, agent } = await scene();
  const other = await shop.git(
    "-c",
    "user.name=x",
    "-c",
    "user.email=x@x.example",
    "commit-tree",
    "main^{tree}",
    "-m",
    "Another beginning",
  );
  await shop.git("update-ref", "refs/heads/main", other);
  const { faults, branches } = await agent.finish("One");
  expect(faults).toMatchObject([
    { code: "pull_request_failed", message: expect.stringContaining("no history in common") },
  ]);
  expect(branches[0]?.branch).toBe(agent.workspace.repositories[0]?.branch);
});

test("an app that is not installed, may not push or has another key is reported", async () => {
  const shop = await fake.addRepository("acme/hidden");
  shop.isInstalled = false;
  await expect(harness.agent([{ url: `${fake.url}/acme/hidden` }])).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("is not installed for acme/hidden"),
  });
  const { agent } = await scene();
  for (const grant of fake.grants) grant.permissions.contents = "read";
  expect((await agent.finish("One")).faults).toMatchObject([
    { code: "push_rejected", message: expect.stringContaining("may read the repository but not push") },
  ]);
  const settings = await githubSettings(fake);
  const stranger = openGithub({ ...settings, credentials: { ...settings.credentials, appId: "1" } as never }, {});
  const { sources, remove } = await openGitHarness({ github: stranger });
  const host = await sources.open(1, `${fake.url}/acme/shop-1`);
  await expect(readAdvertisement(host, 30_000, never())).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("[source_hosts.github]"),
  });
  await remove();
});

test("a personal access token works the same, as its owner", async () => {
  const token = fake.addToken("ada");
  const credentials = { kind: "token", variable: "GH" } as const;
  const own = openGithub({ baseUrl: fake.apiUrl, client: null, credentials }, { GH: token });
  const other = await openHandoffHarness({ github: own, reviewers: ["ada", "bob"] });
  const shop = await fake.addRepository("acme/plain", { collaborators: ["ada", "bob"] });
  const agent = await other.agent([{ url: `ssh://git@127.0.0.1:2222/acme/plain.git` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada", requests: [["bob"]] }]);
  await other.close();
});

test("a pull request from a fork is refused because its branch is in another repository", async () => {
  const { shop, url, agent } = await scene();
  await agent.finish("One");
  const [pull] = shop.pulls;
  if (pull) pull.isFork = true;
  await expect(harness.agent([{ url, prUrl: `${url}/pull/1` }])).rejects.toMatchObject({
    code: "ref_not_found",
    message: expect.stringContaining("comes from a fork"),
  });
});

test("the token is not sent to another host after a redirect", async () => {
  const { url } = await scene();
  const host = await openHost(url);
  const outcome = await host.reach(
    (remote) =>
      runGit(
        {
          location: { directory: "/nonexistent" },
          args: ["config", "--get-urlmatch", "http.extraheader", "http://elsewhere.example/o/r"],
          remote,
        },
        never(),
      ).catch((error: Error) => error.name),
    never(),
  );
  expect(outcome).toBe("GitFailed");
});
