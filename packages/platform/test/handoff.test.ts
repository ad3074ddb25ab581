import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveDaemon, serveHttp } from "./git-servers.ts";
import { type HandoffBench, handoffBench } from "./handoff-bench.ts";
import { userGit } from "./host-bench.ts";

let bench: HandoffBench;

beforeAll(async () => {
  bench = await handoffBench();
});
afterAll(() => bench.close());

const write = (root: string, name: string, text: string) => writeFileSync(join(root, name), text);

/** The only branch of an agent there. */
const agentBranch = (directory: string) =>
  userGit(directory, "for-each-ref", "--format=%(refname:short)", "refs/heads/platform/");

test("what a run left becomes one commit on a branch of the agent and a draft pull request", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n", "old.txt": "old\n", ".gitignore": "*.log\n" });
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "new.txt", "new\n");
  write(root, "README.md", "# Better shop\n");
  write(root, "noise.log", "ignored\n");
  unlinkSync(join(root, "old.txt"));
  const done = await agent.finish("Made the shop better.\n\nIt was not good.");
  const branch = await agentBranch(shop.directory);
  const prUrl = `${bench.url}/git/${shop.name}/pulls/1`;
  expect(branch).toMatch(/^platform\/fix-the-failing-test-[0-9a-f]{8}$/);
  expect(done).toEqual({
    branches: [{ repoUrl: shop.url.replace("http://", "").replace(".git", ""), branch, prUrl }],
    faults: [],
  });
  expect(await shop.git("diff", "--name-status", `main...${branch}`)).toBe("M\tREADME.md\nA\tnew.txt\nD\told.txt");
  expect(await shop.git("log", "-1", "--format=%an <%ae> %cI%n%B", branch)).toBe(
    "Platform Agent <agent@platform.invalid> 2026-01-02T03:04:05+00:00\nMade the shop better.\n\nIt was not good.\n\nCo-authored-by: Ada <ada@example.com>",
  );
  expect((await bench.ask("GET", `/git/${shop.name}/pulls/1`)).body).toMatchObject({
    title: "Fix the failing test",
    body: "Made the shop better.\n\nIt was not good.",
    draft: true,
    base: "main",
    state: "open",
  });
  expect(await userGit(root, "status", "--porcelain")).toBe("");
  expect(await userGit(root, "rev-parse", "HEAD")).toBe(await shop.git("rev-parse", branch));
  expect(existsSync(join(root, ".git/COMMIT_EDITMSG"))).toBe(false);
});

test("commits of the agent itself are kept, and what it left is put on top", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "first.txt", "first\n");
  await userGit(root, "add", "first.txt");
  await userGit(root, "commit", "--quiet", "--message=By the agent");
  write(root, "second.txt", "second\n");
  await agent.finish("Second");
  const branch = await agentBranch(shop.directory);
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toBe("Second\nBy the agent");
  expect(await userGit(root, "fsck", "--full")).toBe("");
});

test("where nothing was changed there is no branch and no pull request", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const done = await agent.finish("It is fine as it is.");
  expect(done.branches).toEqual([{ repoUrl: expect.any(String) }]);
  expect(await agentBranch(shop.directory)).toBe("");
  expect((await bench.ask("GET", `/git/${shop.name}/pulls`)).body).toEqual({ items: [] });
});

test("an agent without repositories hands off nothing", async () => {
  const agent = await bench.agent([]);
  write(agent.workspace.root, "notes.txt", "notes\n");
  expect(await agent.finish("Notes")).toEqual({ branches: [], faults: [] });
});

test("called again, everything stays as it is", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  write(agent.workspace.root, "new.txt", "new\n");
  const first = await agent.finish("New");
  const tip = await shop.git("rev-parse", await agentBranch(shop.directory));
  expect(await agent.again()).toEqual(first);
  for (const state of ["waiting", "committed", "pushed", "opened", "failed"] as const) {
    await bench.db.updateTable("handoffs").set({ state }).where("agent_id", "=", agent.id).execute();
    expect(await agent.again(), state).toEqual(first);
  }
  expect(await shop.git("rev-parse", await agentBranch(shop.directory))).toBe(tip);
  expect((await bench.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({ items: [{ number: 1 }] });
});

test("follow-ups go on with the same branch and pull request", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const first = await agent.finish("One");
  write(agent.workspace.root, "two.txt", "two\n");
  expect(await agent.finish("Two")).toEqual(first);
  expect(await shop.git("log", "--format=%s", `main..${await agentBranch(shop.directory)}`)).toBe("Two\nOne");
  expect((await bench.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 1, body: "One\n\n---\n\nTwo" }],
  });
  await bench.ask("PATCH", `/git/${shop.name}/pulls/1`, { body: "Mine" });
  write(agent.workspace.root, "three.txt", "three\n");
  await agent.finish("Three");
  expect((await bench.ask("GET", `/git/${shop.name}/pulls/1`)).body).toMatchObject({ body: "Mine" });
});

test("a follow-up that changes nothing does not open again what a person has closed", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const first = await agent.finish("One");
  await bench.ask("PATCH", `/git/${shop.name}/pulls/1`, { state: "closed" });
  expect(await agent.finish("An explanation")).toEqual(first);
  expect((await bench.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 1, state: "closed" }],
  });
  write(agent.workspace.root, "two.txt", "two\n");
  await agent.finish("Two");
  expect((await bench.ask("GET", `/git/${shop.name}/pulls`)).body).toMatchObject({
    items: [{ number: 2 }, { number: 1 }],
  });
});

test("without the wish for one there is a branch and no pull request", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  write(agent.workspace.root, "one.txt", "one\n");
  const done = await agent.finish("One", { autoCreatePR: false });
  expect(done.branches).toEqual([{ repoUrl: expect.any(String), branch: await agentBranch(shop.directory) }]);
});

test("work on the current branch goes to that branch", async () => {
  const shop = await bench.shop();
  await shop.git("branch", "topic", "main");
  const agent = await bench.agent([{ url: shop.url, startingRef: "topic" }], { workOnCurrentBranch: true });
  write(agent.workspace.root, "one.txt", "one\n");
  const done = await agent.finish("One");
  expect(done).toMatchObject({ branches: [{ branch: "topic", prUrl: expect.stringContaining("/pulls/1") }] });
  expect(await shop.git("show", "topic:one.txt")).toBe("one");
  expect(await agentBranch(shop.directory)).toBe("");
});

test("an agent that is given a pull request works on its head and finds it again", async () => {
  const shop = await bench.shop();
  const first = await bench.agent([{ url: shop.url }]);
  write(first.workspace.root, "one.txt", "one\n");
  const prUrl = (await first.finish("One")).branches[0]?.prUrl;
  const second = await bench.agent([{ url: shop.url, prUrl }], { workOnCurrentBranch: true });
  expect(readFileSync(join(second.workspace.root, "one.txt"), "utf8")).toBe("one\n");
  write(second.workspace.root, "two.txt", "two\n");
  expect((await second.finish("Two", { autoCreatePR: false })).branches[0]?.prUrl).toBe(prUrl);
  const third = await bench.agent([{ url: shop.url, prUrl }]);
  expect(existsSync(join(third.workspace.root, "one.txt"))).toBe(false);
});

test("several repositories are handed off each for itself", async () => {
  const [one, two] = [await bench.shop(), await bench.shop()];
  const agent = await bench.agent([{ url: one.url }, { url: two.url }]);
  write(join(agent.workspace.root, two.name), "new.txt", "new\n");
  const done = await agent.finish("New");
  expect(await agentBranch(one.directory)).toBe("");
  expect(done.branches.filter(({ prUrl }) => prUrl !== undefined)).toHaveLength(1);
  expect(await shopFiles(two.directory)).toContain("new.txt");
});

const shopFiles = async (directory: string) =>
  userGit(directory, "ls-tree", "-r", "--name-only", await agentBranch(directory));

test("a branch that somebody else has changed is not overwritten", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
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

test("an agent may rewrite what it pushed to its own branch", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, "one.txt", "one\n");
  await agent.finish("One");
  write(root, "one.txt", "better\n");
  await userGit(root, "commit", "--quiet", "--all", "--amend", "--message=Better");
  expect((await agent.finish("Done")).faults).toEqual([]);
  expect(await shop.git("log", "--format=%s", `main..${await agentBranch(shop.directory)}`)).toBe("Better");
});

test("a refusal of the host is told with its words, and the work stays", async () => {
  const repository = await temporaryRepository();
  const directory = join(bench.served, "guarded.git");
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, directory]);
  await repository.remove();
  const hook = join(directory, "hooks/pre-receive");
  mkdirSync(join(directory, "hooks"), { recursive: true });
  writeFileSync(hook, "#!/bin/sh\necho 'This branch is protected.' >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  const server = await serveHttp(bench.served);
  try {
    const agent = await bench.agent([{ url: `${server.url}/guarded.git` }]);
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

test("a repository that may only be read says so", async () => {
  const repository = await temporaryRepository();
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, join(bench.served, "readonly.git")]);
  await repository.remove();
  const server = await serveHttp(bench.served, (request, response) => {
    const isPush = request.url?.includes("receive-pack") ?? false;
    if (isPush) response.writeHead(403).end();
    return isPush;
  });
  try {
    const agent = await bench.agent([{ url: `${server.url}/readonly.git` }]);
    write(agent.workspace.root, "one.txt", "one\n");
    expect((await agent.finish("One")).faults).toMatchObject([{ code: "push_rejected" }]);
  } finally {
    await server.close();
  }
});

test("a host that only speaks git gets the branch", async () => {
  const repository = await temporaryRepository();
  const directory = join(bench.served, "plain.git");
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", repository.path, directory]);
  await repository.remove();
  const daemon = await serveDaemon(bench.served);
  try {
    const agent = await bench.agent([{ url: `${daemon.url}/plain.git` }]);
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

test("nothing that the agent wrote into git's files runs on the host", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n" });
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const outside = await temporaryDirectory();
  const mark = join(outside.path, "ran");
  const program = join(outside.path, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
  chmodSync(program, 0o755);
  const settings = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.alternateRefsCommand",
    "filter.evil.clean",
    "filter.evil.process",
    "diff.external",
    "credential.helper",
    "core.editor",
    "gpg.program",
  ];
  for (const key of settings) await userGit(root, "config", key, program);
  await userGit(root, "config", "core.hooksPath", outside.path);
  for (const hook of ["pre-commit", "pre-push", "reference-transaction", "post-index-change", "post-commit"])
    symlinkSync(program, join(outside.path, hook));
  write(root, ".gitattributes", "* filter=evil diff=evil\n");
  write(root, "new.txt", "new\n");
  mkdirSync(join(root, "nested"));
  await userGit(join(root, "nested"), "init", "--quiet");
  write(root, "nested/file.txt", "file\n");
  for (const key of settings) await userGit(join(root, "nested"), "config", key, program);
  rmSync(mark, { force: true });
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(existsSync(mark)).toBe(false);
  expect(await shopFiles(shop.directory)).toBe(".gitattributes\nREADME.md\nnew.txt");
  await outside.remove();
});

test("a submodule whose settings ask for a look into it is not looked into", async () => {
  const shop = await bench.shop({ "README.md": "# Shop\n" });
  const commit = await shop.git("rev-parse", "main");
  const index = join(bench.data, "submodule.index");
  const environment = {
    ...process.env,
    GIT_DIR: shop.directory,
    GIT_INDEX_FILE: index,
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { env: environment })).stdout.trim();
  await git("read-tree", "main");
  await git("update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
  await git(
    "update-ref",
    "refs/heads/main",
    await git("commit-tree", await git("write-tree"), "-p", commit, "-m", "Sub"),
  );
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const mark = join(bench.data, "looked");
  await userGit(join(root, "sub"), "init", "--quiet");
  write(root, "sub/file.txt", "file\n");
  await userGit(join(root, "sub"), "add", "--all");
  await userGit(join(root, "sub"), "commit", "--quiet", "--message=Sub");
  await userGit(join(root, "sub"), "config", "core.fsmonitor", `touch ${mark}`);
  write(root, ".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n');
  write(root, "sub/file.txt", "changed\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(existsSync(mark)).toBe(false);
  expect(await shop.git("diff", "--name-only", `main...${await agentBranch(shop.directory)}`)).toBe(".gitmodules");
});

test("objects of another repository cannot be borrowed", async () => {
  const secret = await bench.shop({ "secret.txt": "words nobody else may read\n" });
  const secretTree = await secret.git("rev-parse", "main^{tree}");
  const shop = await bench.shop();
  for (const trick of ["alternates", "link"]) {
    const agent = await bench.agent([{ url: shop.url }]);
    const { root } = agent.workspace;
    const objects = join(root, ".git/objects");
    const theirs = join(secret.directory, "objects");
    if (trick === "alternates") writeFileSync(join(objects, "info/alternates"), `${theirs}\n`);
    else {
      rmSync(join(objects, "pack"), { recursive: true });
      symlinkSync(join(theirs, "pack"), join(objects, "pack"));
    }
    const environment = {
      ...process.env,
      GIT_AUTHOR_NAME: "T",
      GIT_AUTHOR_EMAIL: "t@t",
      GIT_COMMITTER_NAME: "T",
      GIT_COMMITTER_EMAIL: "t@t",
    };
    const run = promisify(execFile);
    const commit = (
      await run("git", ["commit-tree", secretTree, "-m", "Stolen"], { cwd: root, env: environment })
    ).stdout.trim();
    const { branch = "" } = agent.workspace.repositories[0] ?? {};
    writeFileSync(join(root, ".git/HEAD"), `ref: refs/heads/${branch}\n`);
    mkdirSync(join(root, ".git/refs/heads/platform"), { recursive: true });
    writeFileSync(join(root, ".git/refs/heads", branch), `${commit}\n`);
    write(root, "own.txt", "own\n");
    expect((await agent.finish("New")).faults).toEqual([]);
    expect(await shop.git("ls-tree", "-r", "--name-only", branch)).toBe("README.md\nown.txt");
    expect(existsSync(join(objects, "info/alternates"))).toBe(false);
    expect(await userGit(root, "status", "--porcelain")).toBe("");
  }
});

test("an agent that has lost its git directory still has its files handed off", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const outside = await temporaryDirectory({ HEAD: "ref: refs/heads/main\n" });
  rmSync(join(root, ".git"), { recursive: true });
  symlinkSync(outside.path, join(root, ".git"));
  write(root, "new.txt", "new\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toBe("README.md\nnew.txt");
  expect(await userGit(root, "status", "--porcelain")).toBe("");
  await outside.remove();
});

test("files that became directories, links and odd names are handed off as they are", async () => {
  const shop = await bench.shop({ file: "file\n", "folder/inner.txt": "inner\n" });
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  unlinkSync(join(root, "file"));
  mkdirSync(join(root, "file"));
  write(root, "file/inner.txt", "inner\n");
  rmSync(join(root, "folder"), { recursive: true });
  symlinkSync("/etc/passwd", join(root, "folder"));
  write(root, "-dash", "dash\n");
  write(root, 'with\nline "quote"', "odd\n");
  write(root, "ünïcode", "ü\n");
  expect((await agent.finish("New")).faults).toEqual([]);
  const branch = await agentBranch(shop.directory);
  expect((await shop.git("ls-tree", "-r", "-z", "--name-only", branch)).split("\0").filter(Boolean)).toEqual([
    "-dash",
    "file/inner.txt",
    "folder",
    'with\nline "quote"',
    "ünïcode",
  ]);
  expect(await shop.git("show", `${branch}:folder`)).toBe("/etc/passwd");
});
