// Failures of a hand-off on every kind of host: the error is clear, and no work is lost.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryRepository } from "@agentcli/testkit";
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGithub } from "../../src/repositories/scm/index.ts";
import { userGit } from "./git-host-harness.ts";
import { type HttpGitServer, serveHttp } from "./git-servers.ts";
import { githubSettings } from "./github-settings.ts";
import { type HandoffHarness, openHandoffHarness, type TestAgent } from "./handoff-harness.ts";

let fake: FakeGithub;
let harness: HandoffHarness;
let server: HttpGitServer;
let isReadOnly = false;

beforeAll(async () => {
  fake = await startGithub();
  harness = await openHandoffHarness({ github: openGithub(await githubSettings(fake), {}) });
  server = await serveHttp(harness.served, (request, response) => {
    const isRefused = isReadOnly && (request.url?.includes("receive-pack") ?? false);
    if (isRefused) response.writeHead(403).end();
    return isRefused;
  });
});
afterAll(async () => {
  await server.close();
  await harness.close();
  await fake.close();
});

interface Shop {
  url: string;
  directory: string;
  git(...args: string[]): Promise<string>;
}

interface Host {
  open(): Promise<Shop>;
  /** Makes the platform's access read-only until the returned function is called. */
  forbidPushes(): () => void;
}

let count = 0;

async function plainShop(): Promise<Shop> {
  count += 1;
  const origin = await temporaryRepository();
  const directory = join(harness.served, `plain-${count}.git`);
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", origin.path, directory]);
  await origin.remove();
  return { url: `${server.url}/plain-${count}.git`, directory, git: (...args) => userGit(directory, ...args) };
}

async function githubShop(): Promise<Shop> {
  count += 1;
  const { directory } = await fake.addRepository(`acme/faults-${count}`);
  return { url: `${fake.url}/acme/faults-${count}`, directory, git: (...args) => userGit(directory, ...args) };
}

const embedded: Host = {
  open: () => harness.shop(),
  forbidPushes: () => {
    throw new Error("the platform may push to what it keeps itself");
  },
};

const plain: Host = {
  open: plainShop,
  forbidPushes() {
    isReadOnly = true;
    return () => {
      isReadOnly = false;
    };
  },
};

const github: Host = {
  open: githubShop,
  forbidPushes() {
    for (const grant of fake.grants) grant.permissions.contents = "read";
    return () => {
      for (const grant of fake.grants) grant.permissions.contents = "write";
    };
  },
};

async function workingAgent(shop: Shop, more: Parameters<HandoffHarness["agent"]>[1] = {}): Promise<TestAgent> {
  const agent = await harness.agent([{ url: shop.url }], more);
  writeFileSync(join(agent.workspace.root, "one.txt"), "one\n");
  return agent;
}

const branchOf = (agent: TestAgent): string => agent.workspace.repositories[0]?.branch ?? "";

/** The commit in the workspace, for a follow-up. */
const keptCommit = (agent: TestAgent) => userGit(agent.workspace.root, "log", "-1", "--format=%s");

/** Creates a commit of another author on these parents. */
const foreignCommit = async ({ git }: Shop, ...parents: string[]) =>
  git("commit-tree", "main^{tree}", ...parents.flatMap((parent) => ["-p", parent]), "-m", "By a person");

const every: [string, Host][] = [
  ["the embedded host", embedded],
  ["plain git", plain],
  ["GitHub", github],
];

describe.each(every)("on %s", (_name, host) => {
  test("a branch changed by another author is not overwritten; after a merge the hand-off continues", async () => {
    const shop = await host.open();
    const agent = await workingAgent(shop);
    await agent.finish("One");
    const branch = branchOf(agent);
    const theirs = await foreignCommit(shop, branch);
    const ours = await shop.git("rev-parse", branch);
    await shop.git("update-ref", `refs/heads/${branch}`, theirs);
    writeFileSync(join(agent.workspace.root, "two.txt"), "two\n");
    const { faults, branches } = await agent.finish("Two");
    expect(faults).toMatchObject([
      { code: "branch_moved", message: expect.stringMatching(/changed in the meantime.* send a follow-up/) },
    ]);
    expect(branches).toMatchObject([{ branch }]);
    expect(await shop.git("rev-parse", branch)).toBe(theirs);
    expect(await keptCommit(agent)).toBe("Two");
    await shop.git("update-ref", `refs/heads/${branch}`, ours);
    expect((await agent.again()).faults).toEqual([]);
    expect(await shop.git("log", "-1", "--format=%s", branch)).toBe("Two");
  });

  test("a force-pushed working branch is not forced back", async () => {
    const shop = await host.open();
    const agent = await workingAgent(shop, { workOnCurrentBranch: true });
    expect(branchOf(agent)).toBe("main");
    const forced = await foreignCommit(shop);
    await shop.git("update-ref", "refs/heads/main", forced);
    const { faults } = await agent.finish("One");
    expect(faults).toMatchObject([{ code: "branch_moved", message: expect.stringContaining('"main"') }]);
    expect(await shop.git("rev-parse", "main")).toBe(forced);
    expect(await keptCommit(agent)).toBe("One");
  });
});

describe.each(every.slice(1))("on %s", (_name, host) => {
  test("a protected branch fails with the host's message; once unprotected, it receives the kept commit", async () => {
    const shop = await host.open();
    const hook = join(shop.directory, "hooks/pre-receive");
    // The end of the output is read; most of it are spaces.
    const script = "printf '%60000s.\\nGH006: Protected branch update failed\\n' >&2";
    writeFileSync(hook, `#!/bin/sh\n${script}\nexit 1\n`, { mode: 0o755 });
    const agent = await workingAgent(shop);
    const { faults, branches } = await agent.finish("One");
    expect(faults).toMatchObject([
      { code: "push_rejected", message: expect.stringContaining("GH006: Protected branch update failed") },
    ]);
    expect(branches).toEqual([{ repoUrl: expect.any(String) }]);
    expect(await keptCommit(agent)).toBe("One");
    rmSync(hook);
    expect((await agent.again()).faults).toEqual([]);
    expect(await shop.git("log", "-1", "--format=%s", branchOf(agent))).toBe("One");
  });

  test("a missing push permission is reported with instructions; once granted, the kept commit is pushed", async () => {
    const shop = await host.open();
    const agent = await workingAgent(shop);
    const allow = host.forbidPushes();
    try {
      expect((await agent.finish("One")).faults).toMatchObject([
        {
          code: "push_rejected",
          message: expect.stringMatching(/may read the repository but not push.*Give it access/),
        },
      ]);
      expect(await keptCommit(agent)).toBe("One");
    } finally {
      allow();
    }
    expect((await agent.again()).faults).toEqual([]);
    expect(await shop.git("log", "-1", "--format=%s", branchOf(agent))).toBe("One");
  });
});

describe.each([every[0], every[2]].filter((one) => one !== undefined))("on %s", (_name, host) => {
  test("a base branch with a replaced history gets no pull request, and the branch stays", async () => {
    const shop = await host.open();
    const agent = await workingAgent(shop);
    await shop.git("update-ref", "refs/heads/main", await foreignCommit(shop));
    const { faults, branches } = await agent.finish("One");
    expect(faults).toMatchObject([
      { code: "pull_request_failed", message: expect.stringContaining("no history in common") },
    ]);
    expect(branches).toMatchObject([{ branch: branchOf(agent) }]);
    expect(await shop.git("log", "-1", "--format=%s", branchOf(agent))).toBe("One");
  });
});

test("without pull requests, a base branch with a replaced history changes nothing", async () => {
  const shop = await plain.open();
  const agent = await workingAgent(shop);
  await shop.git("update-ref", "refs/heads/main", await foreignCommit(shop));
  expect(await agent.finish("One")).toMatchObject({ branches: [{ branch: branchOf(agent) }], faults: [] });
});
