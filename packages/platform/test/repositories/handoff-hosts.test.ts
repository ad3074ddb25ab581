// Responses of hosts to a push, and how they are reported to the agent.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryRepository } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userGit } from "./git-host-harness.ts";
import { serveDaemon, serveHttp } from "./git-servers.ts";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles, write } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

test("a branch changed by another author is not overwritten", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  await agent.finish("One");
  const branch = await agentBranch(shop.directory);
  const tree = await shop.git("rev-parse", `${branch}^{tree}`);
  const theirs = await shop.git("commit-tree", tree, "-p", branch, "-m", "By a person");
  await shop.git("update-ref", `refs/heads/${branch}`, theirs);
  write(agent.workspace.root, "two.txt", "two\n");
  const done = await agent.finish("Two");
  expect(done.faults).toMatchObject([{ code: "branch_moved", message: expect.stringContaining(branch) }]);
  expect(done.branches).toMatchObject([{ branch }]);
  expect(await shop.git("rev-parse", branch)).toBe(theirs);
  expect(await userGit(agent.workspace.root, "log", "-1", "--format=%s")).toBe("Two");
});

test("an agent may rewrite the commits it pushed to its own branch", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "one.txt", "one\n");
  await agent.finish("One");
  write(root, "one.txt", "better\n");
  await userGit(root, "commit", "--quiet", "--all", "--amend", "--message=Better");
  expect((await agent.finish("Done")).faults).toEqual([]);
  expect(await shop.git("log", "--format=%s", `main..${await agentBranch(shop.directory)}`)).toBe("Better");
});

test("a refusal by the host is reported with its message, and the work stays", async () => {
  const repository = await temporaryRepository();
  const directory = join(harness.served, "guarded.git");
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, directory]);
  await repository.remove();
  const hook = join(directory, "hooks/pre-receive");
  mkdirSync(join(directory, "hooks"), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\necho 'This branch is protected.' >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  const server = await serveHttp(harness.served);
  try {
    const agent = await harness.agent([{ url: `${server.url}/guarded.git` }]);
    write(agent.workspace.root, "one.txt", "one\n");
    const done = await agent.finish("One");
    expect(done.faults).toMatchObject([
      { code: "push_rejected", message: expect.stringContaining("This branch is protected.") },
    ]);
    rmSync(hook);
    expect((await agent.again()).faults).toEqual([]);
    expect(await shopFiles(directory)).toContain("one.txt");
  } finally {
    await server.close();
  }
});

test("a host with a full disk is named as such, and a branch on it as neither moved nor lost", async () => {
  const repository = await temporaryRepository();
  const directory = join(harness.served, "full.git");
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, directory]);
  await repository.remove();
  const hook = join(directory, "hooks/pre-receive");
  mkdirSync(join(directory, "hooks"), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\necho 'error: unable to write file: No space left on device' >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  const server = await serveHttp(harness.served);
  try {
    const agent = await harness.agent([{ url: `${server.url}/full.git` }]);
    write(agent.workspace.root, "one.txt", "one\n");
    expect((await agent.finish("One")).faults).toMatchObject([
      { code: "push_rejected", message: "The host refused the push: its disk is full. Ask its administrator." },
    ]);
    rmSync(hook);
    expect((await agent.again()).faults).toEqual([]);
  } finally {
    await server.close();
  }
});

test("a read-only repository is reported", async () => {
  const repository = await temporaryRepository();
  await promisify(execFile)("git", [
    "clone",
    "--quiet",
    "--bare",
    repository.path,
    join(harness.served, "readonly.git"),
  ]);
  await repository.remove();
  const server = await serveHttp(harness.served, (request, response) => {
    const isPush = request.url?.includes("receive-pack") ?? false;
    if (isPush) response.writeHead(403).end();
    return isPush;
  });
  try {
    const agent = await harness.agent([{ url: `${server.url}/readonly.git` }]);
    write(agent.workspace.root, "one.txt", "one\n");
    expect((await agent.finish("One")).faults).toMatchObject([{ code: "push_rejected" }]);
  } finally {
    await server.close();
  }
});

test("a host without an API gets the branch", async () => {
  const repository = await temporaryRepository();
  const directory = join(harness.served, "plain.git");
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, directory]);
  await repository.remove();
  const daemon = await serveDaemon(harness.served);
  try {
    const agent = await harness.agent([{ url: `${daemon.url}/plain.git` }]);
    write(agent.workspace.root, "one.txt", "one\n");
    const done = await agent.finish("One");
    expect(done).toEqual({
      branches: [{ repoUrl: expect.any(String), branch: await agentBranch(directory) }],
      faults: [],
    });
  } finally {
    await daemon.close();
  }
});

test("an existing branch of another author is not used as the agent's branch", async () => {
  const shop = await harness.shop();
  for (const branch of ["develop", "team/work"]) await shop.git("branch", branch, "main");
  const refused = async (branchName: string) =>
    harness.agent([{ url: shop.url, startingRef: "develop" }], { branchName }).then(
      () => "taken",
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );
  expect(await refused("main")).toBe(
    'push_rejected: "main" is a branch of the repository already. Name another branch for the agent.',
  );
  expect(await refused("team")).toContain("push_rejected");
  expect(await refused("team/work/more")).toContain('beside the branch "team/work"');
  expect(await refused("team/other")).toBe("taken");
});

test("a name that conflicts with a newer branch is reported", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }], { branchName: "team/work" });
  await shop.git("branch", "team", "main");
  write(agent.workspace.root, "one.txt", "one\n");
  expect((await agent.finish("One")).faults).toMatchObject([
    { code: "push_rejected", message: expect.stringContaining("refs/heads/team") },
  ]);
});
