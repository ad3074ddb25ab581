import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeGithub, type FakeRepository, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runGit } from "../src/git/index.ts";
import { type Github, openGithub, readAdvertisement } from "../src/scm/index.ts";
import { gitBench, never } from "./git-bench.ts";
import { githubDescription } from "./github-description.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffBench, handoffBench } from "./handoff-bench.ts";

let fake: FakeGithub;
let github: Github;
let bench: HandoffBench;

beforeAll(async () => {
  fake = await startGithub({ description: githubDescription() });
  github = openGithub(await githubSettings(fake), {});
  bench = await handoffBench({ github, reviewers: ["ada", "stranger"] });
}, 120_000);
afterAll(async () => {
  await bench.close();
  await fake.close();
});
beforeEach(() => {
  fake.asked.length = 0;
});

let count = 0;

interface Scene {
  shop: FakeRepository;
  url: string;
  agent: Awaited<ReturnType<HandoffBench["agent"]>>;
}

async function scene(change = "one"): Promise<Scene> {
  count += 1;
  const shop = await fake.addRepository(`acme/shop-${count}`, { collaborators: ["ada", "bob"] });
  const url = `${fake.url}/acme/shop-${count}`;
  const agent = await bench.agent([{ url }]);
  writeFileSync(join(agent.workspace.root, change), change);
  return { shop, url, agent };
}

const operations = () => fake.asked.map(({ operation }) => operation);

/** Whatever was asked and answered was as the official description has it. */
function expectNoComplaints(): void {
  expect(fake.complaints).toEqual([]);
}

test("a run becomes a draft pull request, and its person is asked for a review", async () => {
  const { shop, url, agent } = await scene();
  const done = await agent.finish("Made it better");
  const branch = agent.workspace.repositories[0]?.branch ?? "";
  expect(done).toEqual({
    branches: [{ repoUrl: url.replace("http://", ""), branch, prUrl: `${url}/pull/1` }],
    faults: [],
  });
  expect(shop.pulls).toMatchObject([
    {
      title: "Fix the failing test",
      body: "Made it better",
      head: branch,
      base: "main",
      isDraft: true,
      author: "platform-app[bot]",
      requests: [["ada"]],
    },
  ]);
  expect(await shop.git("log", "-1", "--format=%s", branch)).toBe("Made it better");
  expectNoComplaints();
});

test("tokens are asked for one repository and what agents do there, and kept while they are good", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  const minted = fake.asked.filter(({ operation }) => operation === "apps/create-installation-access-token");
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

test("a token that is nearly over is exchanged for a new one before it is used", async () => {
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
  expect(fake.asked.filter(({ status }) => status === 401)).toEqual([]);
});

test("a token that was taken back is exchanged for a new one", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  for (const grant of fake.grants) grant.isRevoked = true;
  writeFileSync(join(agent.workspace.root, "two"), "two");
  expect((await agent.finish("Two")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  expect(shop.pulls[0]?.body).toBe("One\n\n---\n\nTwo");
  expect(fake.grants.filter((grant) => grant.repositories?.includes(shop.name))).toHaveLength(2);
});

test("no token is left behind: not in the workspace, not in the data directory, not in the words of a fault", async () => {
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
  for (const entry of readdirSync(bench.data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), "latin1");
    for (const secret of secrets) expect(text.includes(secret), `${entry.parentPath}/${entry.name}`).toBe(false);
  }
});

test("git gets its token by the environment of one call, and never as an argument", async () => {
  const { url } = await scene();
  const host = await benchHost(url);
  const { address, config, variables } = await host.reach(async (remote) => remote, never());
  const token = fake.grants.at(-1)?.token ?? "";
  expect(JSON.stringify([address, variables])).not.toContain(token);
  expect(config.filter(([key]) => key.endsWith("extraHeader"))).toEqual([
    [`http.${fake.url}/.extraHeader`, expect.stringMatching(/^Authorization: Basic /)],
  ]);
});

const benchHost = async (url: string) => {
  const { sources, remove } = await gitBench({ github });
  const host = await sources.open(1, url);
  await remove();
  return host;
};

test("follow-ups go on with the same pull request, and ask nobody again who was taken off it", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One");
  const [pull] = shop.pulls;
  if (pull) pull.reviewers = [];
  writeFileSync(join(agent.workspace.root, "two"), "two");
  await agent.finish("Two");
  expect(shop.pulls).toMatchObject([{ reviewers: [], requests: [["ada"]] }]);
  await bench.db
    .updateTable("handoffs")
    .set({ state: "opened", announced_pr_url: null })
    .where("agent_id", "=", agent.id)
    .execute();
  if (pull) pull.reviews = [{ author: "ada", event: "COMMENT", body: "seen", comments: [] }];
  await agent.again();
  expect(shop.pulls).toMatchObject([{ requests: [["ada"]] }]);
  expectNoComplaints();
});

test("nobody is asked where that was not wished", async () => {
  const { shop, agent } = await scene();
  await agent.finish("One", { asksForReview: false });
  expect(shop.pulls).toMatchObject([{ requests: [] }]);
});

test("an answer that was lost does not make a second pull request", async () => {
  const { shop, agent } = await scene();
  fake.surprise({ operation: "pulls/create", answer: "carry out, then hang up" });
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
  expect(operations().filter((operation) => operation === "pulls/create")).toHaveLength(2);
});

test("a host that fails for a moment, or asks for patience, is asked again", async () => {
  const { shop, agent } = await scene();
  fake.surprise({ operation: "pulls/list", answer: { status: 502, body: { message: "Server Error" } } });
  fake.surprise({
    operation: "pulls/create",
    answer: {
      status: 403,
      body: { message: "You have exceeded a secondary rate limit" },
      headers: { "retry-after": "1" },
    },
  });
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toHaveLength(1);
});

test("what GitHub refuses ends in its own words and what to do, and the branch stays", async () => {
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
    fake.surprise({ operation: "pulls/create", answer: { status, body } });
    const { branches, faults } = await agent.finish("One");
    expect(faults).toMatchObject([{ code: "pull_request_failed", message: expect.stringMatching(words) }]);
    const branch = branches[0]?.branch ?? "none";
    expect(await shop.git("log", "-1", "--format=%s", branch)).toBe("One");
    expect((await agent.again()).branches[0]?.prUrl).toContain("/pull/1");
  }
});

test("a base that was replaced by another history ends in a clear fault", async () => {
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

test("an app that is not installed, may not push, or has another key says so", async () => {
  const shop = await fake.addRepository("acme/hidden");
  shop.isInstalled = false;
  await expect(bench.agent([{ url: `${fake.url}/acme/hidden` }])).rejects.toMatchObject({
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
  const { sources, remove } = await gitBench({ github: stranger });
  const host = await sources.open(1, `${fake.url}/acme/shop-1`);
  await expect(readAdvertisement(host, 30_000, never())).rejects.toMatchObject({
    code: "repository_unreachable",
    message: expect.stringContaining("[source_hosts.github]"),
  });
  await remove();
});

test("a plain token does the same, in the name of whoever it is of", async () => {
  const token = fake.addToken("ada");
  const credentials = { kind: "token", variable: "GH" } as const;
  const own = openGithub({ baseUrl: fake.apiUrl, client: null, credentials }, { GH: token });
  const other = await handoffBench({ github: own, reviewers: ["ada", "bob"] });
  const shop = await fake.addRepository("acme/plain", { collaborators: ["ada", "bob"] });
  const agent = await other.agent([{ url: `ssh://git@127.0.0.1:2222/acme/plain.git` }]);
  writeFileSync(join(agent.workspace.root, "one"), "one");
  expect((await agent.finish("One")).faults).toEqual([]);
  expect(shop.pulls).toMatchObject([{ author: "ada", requests: [["bob"]] }]);
  await other.close();
});

test("a pull request from a fork is refused, since its branch is elsewhere", async () => {
  const { shop, url, agent } = await scene();
  await agent.finish("One");
  const [pull] = shop.pulls;
  if (pull) pull.isFork = true;
  await expect(bench.agent([{ url, prUrl: `${url}/pull/1` }])).rejects.toMatchObject({
    code: "ref_not_found",
    message: expect.stringContaining("comes from a fork"),
  });
});

test("the token does not follow a repository that has moved to another host", async () => {
  const { url } = await scene();
  const host = await benchHost(url);
  const said = await host.reach(
    (remote) =>
      runGit(
        {
          place: { directory: "/nonexistent" },
          args: ["config", "--get-urlmatch", "http.extraheader", "http://elsewhere.example/o/r"],
          remote,
        },
        never(),
      ).catch((error: Error) => error.name),
    never(),
  );
  expect(said).toBe("GitFailed");
});
