// Files that look like secrets or leftovers stay in the workspace: no commit has them, run and pull request list them.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userGit } from "./git-host-harness.ts";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

function writeAll(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

test("secrets and leftovers of a run are in no commit, and are listed on the run and in the pull request", async () => {
  const shop = await harness.shop({
    "package.json": "{}\n",
    "config/.env": "TRACKED=1\n",
    "vendor/dist/lib.js": "1\n",
  });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeAll(root, {
    "index.js": "1\n",
    ".env": "TOKEN=secret\n",
    ".env.production": "TOKEN=secret\n",
    ".env.example": "TOKEN=\n",
    "config/.env": "TRACKED=again\n",
    "certs/server.key": "key\n",
    "home/id_ed25519": "key\n",
    "node_modules/left-pad/index.js": "1\n",
    "dist/app.js": "1\n",
    "src/build/plan.js": "1\n",
    "vendor/dist/more.js": "1\n",
    "tools/__pycache__/x.cpython-312.pyc": "1\n",
    "debug.log": "1\n",
  });
  const done = await agent.finish("Added it");
  expect(done.faults).toEqual([]);
  expect((await shopFiles(shop.directory)).split("\n")).toEqual([
    ".env.example",
    "config/.env",
    "index.js",
    "package.json",
    "src/build/plan.js",
    "vendor/dist/lib.js",
    "vendor/dist/more.js",
  ]);
  expect(await shop.git("show", `${await agentBranch(shop.directory)}:config/.env`)).toBe("TRACKED=again");
  const secrets = [".env", ".env.production", "certs/server.key", "home/id_ed25519"];
  const leftovers = ["debug.log", "dist/", "node_modules/", "tools/__pycache__/"];
  const heldBack = done.branches[0]?.heldBack ?? [];
  expect(heldBack.filter(({ reason }) => reason === "secret").map(({ path }) => path)).toEqual(secrets);
  expect(heldBack.filter(({ reason }) => reason === "leftover").map(({ path }) => path)).toEqual(leftovers);
  const { body } = (await harness.ask("GET", `/git/${shop.name}/pulls/1`)).body as { body: string };
  for (const path of [...secrets, ...leftovers]) expect(body).toContain(`- \`${path}\`: looks like a`);
  expect(await agent.again()).toEqual(done);
  expect(existsSync(join(root, ".env"))).toBe(true);
});

test("commits of the agent lose what is held back, and one of nothing else is left out", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  writeAll(root, { ".env": "TOKEN=secret\n" });
  await userGit(root, "add", "--all");
  await userGit(root, "commit", "--quiet", "--message=Only secrets");
  writeAll(root, { "index.js": "1\n", id_rsa: "key\n" });
  await userGit(root, "add", "--all");
  await userGit(root, "commit", "--quiet", "--message=Add the index");
  await userGit(root, "rm", "--quiet", "id_rsa");
  await userGit(root, "commit", "--quiet", "--message=Remove the key");
  const done = await agent.finish("## Summary\n\nAdded an index.");
  const branch = await agentBranch(shop.directory);
  expect(await shop.git("log", "--format=%s", "--name-only", `main..${branch}`)).toBe("Add the index\n\nindex.js");
  expect(done.branches[0]?.heldBack?.map(({ path }) => path).sort()).toEqual([".env", "id_rsa"]);
  const objects = await shop.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
  for (const text of ["TOKEN=secret\n", "key\n"]) {
    writeAll(harness.data, { text });
    expect(objects).not.toContain(await userGit(harness.data, "hash-object", "text"));
  }
  expect((await harness.ask("GET", `/git/${shop.name}/pulls/1`)).body).toMatchObject({ title: "Add the index" });
  expect(await userGit(root, "status", "--porcelain")).toBe("?? .env");
});

test("a merge commit loses the secrets that it adds itself, and keeps those of the branch that it merges", async () => {
  const shop = await harness.shop();
  await shop.git("update-ref", "refs/heads/upstream", "main");
  const clone = join(harness.data, "upstream-clone");
  await userGit(harness.data, "clone", "--quiet", "--branch=upstream", shop.directory, clone);
  writeAll(clone, { "upstream/.env": "PUBLISHED=1\n" });
  await userGit(clone, "add", "--all");
  await userGit(clone, "commit", "--quiet", "--message=Work of the team");
  await userGit(clone, "push", "--quiet", "origin", "upstream");
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  await userGit(root, "fetch", "--quiet", shop.directory, "upstream");
  writeAll(root, { "index.js": "1\n" });
  await userGit(root, "add", "--all");
  await userGit(root, "commit", "--quiet", "--message=Add the index");
  await userGit(root, "merge", "--quiet", "--no-ff", "--no-commit", "FETCH_HEAD");
  writeAll(root, { ".env": "TOKEN=merged\n", "notes.md": "1\n" });
  await userGit(root, "add", "--all");
  await userGit(root, "commit", "--quiet", "--message=Merge the work of the team");
  const done = await agent.finish("## Summary\n\nMerged.");
  const branch = await agentBranch(shop.directory);
  const names = (await shop.git("ls-tree", "-r", "--name-only", branch)).split("\n");
  expect(names).toEqual(expect.arrayContaining(["index.js", "notes.md", "upstream/.env"]));
  expect(names).not.toContain(".env");
  expect(done.branches[0]?.heldBack).toEqual([{ path: ".env", reason: "secret" }]);
  expect(await shop.git("log", "--merges", "--format=%s", `main..${branch}`)).toBe("Merge the work of the team");
  writeAll(harness.data, { text: "TOKEN=merged\n" });
  const objects = await shop.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
  expect(objects).not.toContain(await userGit(harness.data, "hash-object", "text"));
});

test("a run that leaves nothing but secrets has no branch and still lists them", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  writeAll(agent.workspace.root, { ".env.local": "TOKEN=secret\n" });
  const { branches } = await agent.finish("Nothing");
  expect(branches).toEqual([{ repoUrl: expect.any(String), heldBack: [{ path: ".env.local", reason: "secret" }] }]);
  expect(await agentBranch(shop.directory)).toBe("");
  expect((await harness.diffs.read(agent.id, new AbortController().signal))[0]?.patch.toString()).toBe("");
});

test("a leftover that .gitignore includes by name is handed off, a secret is not", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  writeAll(agent.workspace.root, {
    ".gitignore": "*.log\n!dist/**\n!.env\n",
    "dist/app.js": "1\n",
    ".env": "TOKEN=secret\n",
  });
  await agent.finish("Released");
  expect(await shopFiles(shop.directory)).toBe(".gitignore\nREADME.md\ndist/app.js");
});
