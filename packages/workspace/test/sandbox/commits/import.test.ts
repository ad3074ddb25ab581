// What the host imports from a commit in the sandbox when the sandbox is hostile.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RepositoryExport, readReferences, readRepositoryExport } from "../../../src/sandbox/commits/export.ts";
import { openHostGit } from "../../../src/sandbox/commits/host-git.ts";
import { type ImportResult, importRepository, readBaseState } from "../../../src/sandbox/commits/import.ts";
import { findShadows } from "../../../src/sandbox/commits/shadow.ts";
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

const accept = async (exported: Partial<RepositoryExport>): Promise<string[]> => (await acceptAll(exported)).notes;

async function acceptAll(exported: Partial<RepositoryExport>, programs: string[] = []): Promise<ImportResult> {
  const [shadow] = findShadows(sandboxPolicy({ mode: "workspace-write", root }));
  if (shadow === undefined) return expect.fail();
  const hostGit = openHostGit({ path, untrusted: [root], gitDirectory: shadow.gitDirectory }) ?? expect.fail();
  const base = readBaseState(shadow, readReferences(git("for-each-ref", "--format=%(objectname) %(refname)")));
  const unchanged = { ...base, changes: [], pack: Buffer.alloc(0), kept: [], isUnfinished: false };
  const options = { git: hostGit, shadow, base, newGitlinks: "refused", programs } as const;
  return importRepository({ ...unchanged, ...exported }, options);
}

const entry = (name: string, object = git("rev-parse", "HEAD:a"), mode = "100644") => ({
  path: Buffer.from(name),
  entries: [{ mode, object, stage: "0" }],
});

test("a branch does not move to an object that is not a commit, and no name leads out", async () => {
  const tree = git("rev-parse", "HEAD^{tree}");
  for (const object of [tree, "1".repeat(40)])
    await expect(accept({ references: new Map([["refs/heads/main", object]]) }), object).rejects.toThrow();
  for (const name of ["refs/heads/../../config", "refs/heads/a..b", "refs/heads/.x", "refs/heads/x.lock"])
    await expect(
      accept({
        references: new Map([
          ["refs/heads/main", second],
          [name, first],
        ]),
      }),
      name,
    ).rejects.toThrow();
  expect(git("rev-parse", "main")).toBe(second);
  expect(git("for-each-ref", "--format=%(refname)").replace(/^refs\/heads\/agentcli\/.*\n/gm, "")).toBe(
    "refs/heads/main",
  );
});

test("HEAD moves only to a branch or a commit", async () => {
  for (const head of [
    "ref: refs/tags/x",
    "ref: refs/heads/-x",
    "ref: ../config",
    "x",
    git("rev-parse", "HEAD^{tree}"),
    "1".repeat(40),
  ])
    await expect(accept({ head }), head).rejects.toThrow();
  await accept({ head: first });
  expect(git("rev-parse", "HEAD")).toBe(first);
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
  expect(await accept({ changes })).toEqual([
    '"vendor" is a git repository of its own, which the sandbox does not add.',
  ]);
  expect(git("ls-files", "--stage", "known", "vendor")).toBe(`160000 ${second} 0\tknown`);
  expect(git("ls-files")).toBe("a\nb\nknown");
});

test("a commit that adds a gitlink is not imported, not even if a later one removes it again", async () => {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const link = execFileSync("git", ["mktree"], { cwd: root, input: `160000 commit ${first}\tvendor\n` });
  const plain = git("rev-parse", "HEAD^{tree}");
  const adds = git(...author, "commit-tree", link.toString().trim(), "-p", second, "-m", "adds");
  const removes = git(...author, "commit-tree", plain, "-p", adds, "-m", "removes");
  const moveTo = (commit: string) => accept({ references: new Map([["refs/heads/main", commit]]) });
  for (const head of [adds, removes]) await expect(moveTo(head), head).rejects.toThrow(/^"vendor" is a git repo/);
  expect(git("rev-parse", "main")).toBe(second);
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

test("of an operation in progress only git's own files are written, and only as git writes them", async () => {
  const file = (name: string, text: string) => ({ operation: new Map([[name, Buffer.from(text)]]) });
  const before = readFileSync(join(root, ".git/config"), "utf8");
  for (const [name, text] of [
    ["config", "[core]\n\tfsmonitor = evil\n"],
    ["hooks/pre-commit", "evil"],
    ["rebase-merge/git-rebase-todo", "exec evil\n"],
    ["sequencer/opts", "[options]\n"],
    ["MERGE_RR", "x"],
    ["MERGE_HEAD", "evil"],
    ["ORIG_HEAD", "../x\n"],
    ["MERGE_MODE", "evil"],
  ] as const)
    expect(await accept(file(name, text)), name).toHaveLength(1);
  expect(readFileSync(join(root, ".git/config"), "utf8")).toBe(before);
  for (const name of ["hooks/pre-commit", "rebase-merge", "sequencer", "MERGE_RR", "MERGE_HEAD", "ORIG_HEAD"])
    expect(existsSync(join(root, ".git", name)), name).toBe(false);
  expect(await accept(file("MERGE_MSG", "message\n"))).toEqual([]);
  expect(readFileSync(join(root, ".git/MERGE_MSG"), "utf8")).toBe("message\n");
  expect(await accept({ operation: new Map() })).toEqual([]);
  expect(existsSync(join(root, ".git/MERGE_MSG"))).toBe(false);
});

test("gitlinks are refused below a detached HEAD and in the stash as well", async () => {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const link = execFileSync("git", ["mktree"], { cwd: root, input: `160000 commit ${first}\tvendor\n` });
  const adds = git(...author, "commit-tree", link.toString().trim(), "-p", second, "-m", "adds");
  await expect(accept({ head: adds })).rejects.toThrow(/^"vendor" is a git repo/);
  const stash = Buffer.from(`${"0".repeat(40)} ${adds} a <a@b> 1 +0000\tx\n`);
  await expect(
    accept({
      stash,
      references: new Map([
        ["refs/heads/main", second],
        ["refs/stash", adds],
      ]),
    }),
  ).rejects.toThrow(/^"vendor" is a git repo/);
  expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
});

test("the state of a merge that names a commit with a gitlink stays in the sandbox", async () => {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const link = execFileSync("git", ["mktree"], { cwd: root, input: `160000 commit ${first}\tvendor\n` });
  const adds = git(...author, "commit-tree", link.toString().trim(), "-p", second, "-m", "adds");
  for (const name of ["MERGE_HEAD", "ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"]) {
    const state = (commit: string) => ({ operation: new Map([[name, Buffer.from(`${commit}\n`)]]) });
    expect(await accept(state(adds))).toEqual([
      'The state of the merge stays in this sandbox: "vendor" is a git repository of its own, which the sandbox does not add.',
    ]);
    expect(await accept(state("1".repeat(40)))).toEqual([
      expect.stringContaining("its commits are not in the repository"),
    ]);
    expect(existsSync(join(root, ".git", name)), name).toBe(false);
    expect(await accept(state(first))).toEqual([]);
    expect(readFileSync(join(root, ".git", name), "utf8")).toBe(`${first}\n`);
    rmSync(join(root, ".git", name));
  }
});

test("a commit or an index with another content of a file that settings name is reported", async () => {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: root, input: "evil\n" }).toString().trim();
  const tree = execFileSync("git", ["mktree"], { cwd: root, input: `100755 blob ${blob}\ta\n` })
    .toString()
    .trim();
  const changes = git(...author, "commit-tree", tree, "-p", second, "-m", "changes");
  const plain = git(...author, "commit-tree", git("rev-parse", "HEAD^{tree}"), "-p", changes, "-m", "changes back");
  const warning =
    'This run committed or staged another "a", which git reads or runs because settings of the repository name it. Check it before you check it out.';
  const onBranch = (commit: string) => ({
    references: new Map([
      ["refs/heads/main", second],
      [`refs/heads/${commit}`, commit],
    ]),
  });
  expect((await acceptAll(onBranch(plain), ["a", "tools"])).warnings).toEqual([warning]);
  expect((await acceptAll(onBranch(changes), ["a"])).warnings).toEqual([]);
  expect((await acceptAll({ changes: [entry("a", blob)] }, ["a"])).warnings).toEqual([warning]);
  expect((await acceptAll({ changes: [entry("tools/x", blob)] }, ["tools"])).warnings).toHaveLength(1);
  expect((await acceptAll({ changes: [entry("b", blob)] }, ["a", "tools"])).warnings).toEqual([]);
});

test("a reflog that is made to be slow is read at once", async () => {
  const stash = Buffer.from(`${"a".repeat(40)} ${"b".repeat(40)} ${"<".repeat(60_000)}${"> 1 ".repeat(60_000)}\n`);
  await expect(accept({ stash })).rejects.toThrow();
});

test("index entries of other modes are refused", () => {
  const listing = (mode: string) => gzipSync(Buffer.from(`${mode} ${"a".repeat(40)} 0\tvendor\0`));
  for (const mode of ["160001", "040755", "100600"])
    expect(() =>
      readRepositoryExport(
        encode({
          head: Buffer.from("ref: refs/heads/main\n"),
          references: Buffer.alloc(0),
          before: gzipSync(""),
          after: listing(mode),
          pack: Buffer.alloc(0),
          end: Buffer.alloc(0),
        }),
      ),
    ).toThrow("unknown form");
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
  const exported = readRepositoryExport(
    encode({
      head: Buffer.from(`${object}\n`),
      references: Buffer.from(
        `${object} refs/heads/a\n${object} refs/../b\n${object} refs/remotes/c\nx refs/heads/d\n`,
      ),
      "operation MERGE_MSG": Buffer.from("m"),
      "operation ../config": Buffer.from("m"),
      before: gzipSync(before),
      after: gzipSync(after),
      pack: Buffer.from("PACK"),
      end: Buffer.alloc(0),
    }),
  );
  expect(exported).toEqual({
    head: object,
    references: new Map([["refs/heads/a", object]]),
    stash: undefined,
    operation: new Map([["MERGE_MSG", Buffer.from("m")]]),
    kept: [],
    isUnfinished: false,
    pack: Buffer.from("PACK"),
    changes: [
      { path: Buffer.from("gone"), entries: [] },
      { path: Buffer.from("conflict"), entries: [{ mode: "100755", object, stage: "0" }] },
      { path: odd, entries: [{ mode: "100644", object, stage: "0" }] },
    ],
  });
});

test("an incomplete export is ignored, and noise is refused", () => {
  expect(readRepositoryExport("")).toBeUndefined();
  expect(readRepositoryExport(encode({ head: Buffer.from("x"), pack: Buffer.alloc(0) }))).toBeUndefined();
  const name = fc.constantFrom("head", "references", "operation HEAD", "end", "before", "after", "pack", "other");
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.string().map((text) => gzipSync(text)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, content)), (files) => {
      const text = files.map(([title, bytes]) => encode({ [title]: Buffer.from(bytes) })).join("");
      try {
        for (const change of readRepositoryExport(text)?.changes ?? []) expect(change.path).toBeInstanceOf(Buffer);
      } catch (error) {
        expect(error).toMatchObject({ message: expect.any(String) });
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
