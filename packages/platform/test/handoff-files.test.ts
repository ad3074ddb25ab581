// Files as agents leave them: whatever they are and are called, the commit has them as they are.
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentBranch, type HandoffBench, handoffBench, shopFiles, write } from "./handoff-bench.ts";

let bench: HandoffBench;

beforeAll(async () => {
  bench = await handoffBench();
});
afterAll(() => bench.close());

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

test("names that are no text are kept byte for byte, new, changed and deleted", async () => {
  const name = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const place = Buffer.concat([Buffer.from(`${agent.workspace.root}/`), name]);
  const listed = async () => shop.git("diff", "--raw", "--no-abbrev", `main...${await agentBranch(shop.directory)}`);
  writeFileSync(place, "first\n");
  await agent.finish("New");
  expect(await listed()).toMatch(/9c59e24b8393179a5d712de4f990178df5734d99 A\t"caf\\351"$/);
  writeFileSync(place, "second\n");
  await agent.finish("Changed");
  expect(await listed()).toContain("e019be006cf33489e2d0177a3837a2384eddebc5");
  unlinkSync(place);
  await agent.finish("Gone");
  expect(await listed()).toBe("");
});

test("a directory that was moved, with a link left in its place, is handed off as both", async () => {
  const shop = await bench.shop({ "lib/same.js": "same\n", "lib/changed.js": "old\n" });
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  mkdirSync(join(root, "src"));
  renameSync(join(root, "lib"), join(root, "src/lib"));
  symlinkSync("src/lib", join(root, "lib"));
  write(root, "src/lib/changed.js", "new\n");
  expect((await agent.finish("Moved")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toBe("lib\nsrc/lib/changed.js\nsrc/lib/same.js");
});

test("what git cannot make a commit of is told with the file, and a follow-up mends it", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  write(root, ".gitattributes", "*.txt working-tree-encoding=UTF-16\n");
  write(root, "plain.txt", "no sign of UTF-16\n");
  expect((await agent.finish("Encoded")).faults).toMatchObject([
    { code: "commit_failed", message: expect.stringContaining("plain.txt") },
  ]);
  unlinkSync(join(root, ".gitattributes"));
  expect((await agent.finish("Plain")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toContain("plain.txt");
});

test("more than a commit takes is refused before it is read", async () => {
  const shop = await bench.shop();
  const agent = await bench.agent([{ url: shop.url }]);
  write(agent.workspace.root, "core.dump", "");
  truncateSync(join(agent.workspace.root, "core.dump"), 2 ** 40);
  expect((await agent.finish("Huge")).faults).toMatchObject([
    { code: "commit_failed", message: expect.stringContaining("1024.0 GiB") },
  ]);
});
