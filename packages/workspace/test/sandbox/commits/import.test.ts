// What the host imports from a commit in the sandbox when the sandbox is hostile.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CommitExport, readCommitExport } from "../../../src/sandbox/commits/export.ts";
import { openHostGit } from "../../../src/sandbox/commits/host-git.ts";
import { importCommit } from "../../../src/sandbox/commits/import.ts";
import { findCommitRepository } from "../../../src/sandbox/commits/repository.ts";
import { sandboxPolicy } from "../../../src/sandbox/policy.ts";

let root = "";
let first = "";
let second = "";
const path = process.env.PATH ?? "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "offer-")));
  git("init", "-q", "-b", "main");
  writeFileSync(join(root, "a"), "a\n");
  git("add", ".");
  first = commit("first");
  second = commit("second");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const git = (...words: string[]) =>
  execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] }).trim();
const commit = (message: string) => {
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", message);
  return git("rev-parse", "HEAD");
};

const nothing: CommitExport = { head: undefined, mergeFiles: [], changes: [], pack: Buffer.alloc(0) };

async function accept(offer: Partial<CommitExport>, amends = false): Promise<string | undefined> {
  const repository = findCommitRepository(["."], sandboxPolicy({ mode: "workspace-write", root })) ?? expect.fail();
  const hostGit = openHostGit({ path, untrusted: [root], gitDirectory: repository.gitDirectory }) ?? expect.fail();
  return importCommit({ ...nothing, ...offer }, { git: hostGit, repository, amends, newGitlinks: "refused" });
}

const entry = (name: string, object = git("rev-parse", "HEAD:a"), mode = "100644") => ({
  path: Buffer.from(name),
  entries: [{ mode, object, stage: "0" }],
});

test("a branch does not move back, aside, or to an object that is not a commit", async () => {
  const tree = git("rev-parse", "HEAD^{tree}");
  const stranger = git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "stranger");
  const sibling = git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-p", first, "-m", "sibling");
  for (const head of [first, stranger, sibling, tree, "1".repeat(40)]) {
    await expect(accept({ head }), head).rejects.toThrow();
  }
  await expect(accept({ head: stranger }, true)).rejects.toThrow(`${stranger} does not descend from ${second}`);
  expect(git("rev-parse", "main")).toBe(second);
  await accept({ head: sibling }, true);
  expect(git("rev-parse", "main")).toBe(sibling);
});

test.each([
  ".git/config",
  ".git/hooks/post-checkout",
  "../outside",
  "/etc/x",
  "x/../../y",
  "x/.GIT/config",
  "",
  "x//y",
  "./x",
])("the index refuses a path that leads out: %j", async (name) => {
  await accept({ changes: [entry(name)] }).catch((error: Error) => expect(error).toBeInstanceOf(Error));
  expect(git("ls-files")).toBe("a");
});

test("an index entry whose object was not exported is refused", async () => {
  await expect(accept({ changes: [entry("b", "1".repeat(40))] })).rejects.toThrow("nothing was staged");
  expect(git("ls-files")).toBe("a");
});

test("a new gitlink is left out of the index, whatever the sandbox says was there before; an existing one may move", async () => {
  git("update-index", "--add", "--cacheinfo", `160000,${first},known`);
  const changes = [entry("known", second, "160000"), entry("vendor", second, "160000"), entry("b")];
  expect(await accept({ changes })).toBe('"vendor" is a git repository of its own, which the sandbox does not add.');
  expect(git("ls-files", "--stage", "known", "vendor")).toBe(`160000 ${second} 0\tknown`);
  expect(git("ls-files")).toBe("a\nb\nknown");
});

test("a commit that adds a gitlink is not imported, not even if a later one removes it again", async () => {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const link = execFileSync("git", ["mktree"], { cwd: root, input: `160000 commit ${first}\tvendor\n` });
  const plain = git("rev-parse", "HEAD^{tree}");
  const adds = git(...author, "commit-tree", link.toString().trim(), "-p", second, "-m", "adds");
  const removes = git(...author, "commit-tree", plain, "-p", adds, "-m", "removes");
  for (const head of [adds, removes]) await expect(accept({ head }), head).rejects.toThrow(/^"vendor" is a git repo/);
  expect(git("rev-parse", "main")).toBe(second);
  // A branch of the user that has one may be merged.
  git("branch", "theirs", adds);
  const merge = git(...author, "commit-tree", link.toString().trim(), "-p", second, "-p", adds, "-m", "merge");
  await accept({ head: merge });
  expect(git("rev-parse", "main")).toBe(merge);
});

test("damaged objects are not imported", async () => {
  const pack = execFileSync("git", ["pack-objects", "-q", "--stdout"], { cwd: root, input: `${first}\n` });
  pack[pack.length - 25] = (pack[pack.length - 25] ?? 0) ^ 1;
  await expect(accept({ pack })).rejects.toThrow();
  await expect(
    accept({ pack: Buffer.concat([Buffer.from("PACK\0\0\0\x02\0\0\0\x09"), Buffer.alloc(50)]) }),
  ).rejects.toThrow();
  git("fsck", "--strict");
});

test("a tree that would write into .git is not imported", async () => {
  const other = join(root, "other");
  mkdirSync(other);
  const there = (input: string | Buffer, ...words: string[]) => execFileSync("git", words, { cwd: other, input });
  there("", "init", "-q");
  const blob = there("evil\n", "hash-object", "-w", "--stdin").toString().trim();
  const line = Buffer.concat([Buffer.from("100755 .git\0"), Buffer.from(blob, "hex")]);
  const tree = there(line, "hash-object", "-w", "-t", "tree", "--literally", "--stdin").toString().trim();
  const pack = there(`${blob}\n${tree}\n`, "pack-objects", "-q", "--stdout");
  await expect(accept({ pack })).rejects.toThrow(/\.git/);
});

test("only merge files are removed", async () => {
  writeFileSync(join(root, ".git/MERGE_MSG"), "x");
  await accept({ mergeFiles: ["../a", "config"] });
  expect(existsSync(join(root, ".git/MERGE_MSG"))).toBe(false);
  expect([existsSync(join(root, ".git/config")), readFileSync(join(root, "a"), "utf8")]).toEqual([true, "a\n"]);
});

test("git of the workspace is never run on the host", () => {
  writeFileSync(join(root, "git"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  expect(openHostGit({ path: root, untrusted: [root], gitDirectory: root })).toBeUndefined();
});

const encode = (files: Record<string, Buffer>) =>
  Object.entries(files)
    .map(([name, bytes]) => `== ${name}\n${bytes.toString("base64").replace(/.{76}/g, "$&\n")}\n`)
    .join("");

test("an export lists what changed between two listings, byte for byte", () => {
  const object = "a".repeat(40);
  const odd = Buffer.from([0x66, 0xff, 0x0a, 0x6f]);
  const listing = (...lines: string[]) => Buffer.from(lines.map((line) => `${line}\0`).join(""));
  const before = listing(
    `100644 ${object} 0\tsame`,
    `100644 ${object} 0\tgone`,
    `100644 ${object} 1\tconflict`,
    `100644 ${object} 2\tconflict`,
  );
  const after = Buffer.concat([
    listing(`100644 ${object} 0\tsame`, `100755 ${object} 0\tconflict`),
    Buffer.from(`100644 ${object} 0\t`),
    odd,
    Buffer.of(0),
  ]);
  const offer = readCommitExport(
    encode({
      head: Buffer.from(`${object}\n`),
      merge: Buffer.from("MERGE_MSG\n"),
      before: gzipSync(before),
      after: gzipSync(after),
      pack: Buffer.from("PACK"),
    }),
  );
  expect(offer).toEqual({
    head: object,
    mergeFiles: ["MERGE_MSG"],
    pack: Buffer.from("PACK"),
    changes: [
      { path: Buffer.from("gone"), entries: [] },
      { path: Buffer.from("conflict"), entries: [{ mode: "100755", object, stage: "0" }] },
      { path: odd, entries: [{ mode: "100644", object, stage: "0" }] },
    ],
  });
});

test("an incomplete export is ignored, and noise is refused", () => {
  expect(readCommitExport("")).toBeUndefined();
  expect(readCommitExport(encode({ head: Buffer.from("x"), pack: Buffer.alloc(0) }))).toBeUndefined();
  const name = fc.constantFrom("head", "merge", "before", "after", "pack", "other");
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.string().map((text) => gzipSync(text)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, content)), (files) => {
      const text = files.map(([title, bytes]) => encode({ [title]: Buffer.from(bytes) })).join("");
      try {
        for (const change of readCommitExport(text)?.changes ?? []) expect(change.path).toBeInstanceOf(Buffer);
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^Z_|ERR_BUFFER/) });
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
