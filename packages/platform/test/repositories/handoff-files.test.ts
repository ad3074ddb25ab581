// Files of agents: the commit contains them unchanged, whatever their type and name.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles, write } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

test("files replaced by directories, links and unusual names are handed off unchanged", async () => {
  const shop = await harness.shop({ file: "file\n", "folder/inner.txt": "inner\n" });
  const agent = await harness.agent([{ url: shop.url }]);
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

test("an agent's repository is whole after each hand-off, also where others have pushed the same files since it began", async () => {
  const shop = await harness.shop({ "README.md": "# Shop\n", "deep/er/file": "deep\n", "gone/file": "gone\n" });
  const agents = [await harness.agent([{ url: shop.url }]), await harness.agent([{ url: shop.url }])];
  for (const [index, agent] of agents.entries()) {
    const { root } = agent.workspace;
    const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" });
    const expectWhole = async () => {
      expect(git("fsck", "--full", "--strict")).toBe("");
      expect(git("status", "--porcelain")).toBe("");
      const tip = (await harness.workspaces.find(agent.id))?.repositories[0]?.branch ?? "";
      expect(git("rev-parse", "HEAD")).toBe(git("rev-parse", tip));
      expect((await shop.git("rev-parse", tip)).trim()).toBe(git("rev-parse", tip).trim());
    };
    mkdirSync(join(root, "same"));
    write(root, "same/file", "the same\n");
    write(root, "deep/er/file", `other ${index}\n`);
    rmSync(join(root, "gone"), { recursive: true });
    expect((await agent.finish("One")).faults).toEqual([]);
    await expectWhole();
    write(root, "deep/er/file", `again ${index}\n`);
    expect((await agent.finish("Two")).faults).toEqual([]);
    await expectWhole();
    write(root, "deep/er/file", "deep\n");
    expect((await agent.finish("As it was")).faults).toEqual([]);
    await expectWhole();
  }
  expect(await shop.git("fsck", "--full", "--strict")).toBe("");
});

test("the lines that an agent has changed are counted from where it began, over all its runs, whatever the files are called", async () => {
  const shop = await harness.shop({ "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  const counted = () =>
    harness.db
      .selectFrom("handoffs")
      .select(["lines_added as added", "lines_removed as removed"])
      .where("agent_id", "=", agent.id)
      .executeTakeFirst();
  await agent.finish("Nothing to do.");
  expect(await counted()).toEqual({ added: null, removed: null });
  write(root, "a.txt", "one\n2\nthree\nfour\n");
  write(root, "5\t6\tx\n7\t8\ty", "one line\n");
  writeFileSync(join(root, "picture"), Buffer.from([0, 1, 2, 10, 10]));
  renameSync(join(root, "b.txt"), join(root, "9\t9\tz"));
  await agent.finish("Changed");
  expect(await counted()).toEqual({ added: 3, removed: 1 });
  write(root, "a.txt", "one\n2\nthree\n");
  await agent.finish("Changed again");
  expect(await counted()).toEqual({ added: 2, removed: 1 });
});

test("names that are not valid UTF-8 are kept byte for byte: added, changed and deleted", async () => {
  const name = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const path = Buffer.concat([Buffer.from(`${agent.workspace.root}/`), name]);
  const listed = async () => shop.git("diff", "--raw", "--no-abbrev", `main...${await agentBranch(shop.directory)}`);
  writeFileSync(path, "first\n");
  await agent.finish("New");
  expect(await listed()).toMatch(/9c59e24b8393179a5d712de4f990178df5734d99 A\t"caf\\351"$/);
  writeFileSync(path, "second\n");
  await agent.finish("Changed");
  expect(await listed()).toContain("e019be006cf33489e2d0177a3837a2384eddebc5");
  unlinkSync(path);
  await agent.finish("Gone");
  expect(await listed()).toBe("");
});

test("a file that changes right after its checkout, and not in size, is handed off", async () => {
  const shop = await harness.shop({ "price.txt": "10\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const path = join(agent.workspace.root, "price.txt");
  // Nearly always the second of the file too.
  const checkedOut = Math.floor(statSync(join(agent.workspace.root, ".git/index")).mtimeMs / 1000);
  writeFileSync(path, "12\n");
  utimesSync(path, checkedOut + 0.9, checkedOut + 0.9);
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(checkedOut + 1);
  expect((await agent.finish("Raised")).faults).toEqual([]);
  expect(await shop.git("show", `${await agentBranch(shop.directory)}:price.txt`)).toBe("12");
});

test("a moved directory and the link that replaced it are both handed off", async () => {
  const shop = await harness.shop({ "lib/same.js": "same\n", "lib/changed.js": "old\n" });
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  mkdirSync(join(root, "src"));
  renameSync(join(root, "lib"), join(root, "src/lib"));
  symlinkSync("src/lib", join(root, "lib"));
  write(root, "src/lib/changed.js", "new\n");
  expect((await agent.finish("Moved")).faults).toEqual([]);
  expect(await shopFiles(shop.directory)).toBe("lib\nsrc/lib/changed.js\nsrc/lib/same.js");
});

test("a file that git cannot commit is named in the error, and a follow-up can fix it", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
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

test("changes over the size limit are refused before they are read", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "core.dump", "");
  truncateSync(join(agent.workspace.root, "core.dump"), 2 ** 40);
  expect((await agent.finish("Huge")).faults).toMatchObject([
    { code: "commit_failed", message: expect.stringContaining("1024.0 GiB") },
  ]);
});
