// What the server reads and writes in git directories without running git is what git itself would.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  commitText,
  formatPack,
  listReferences,
  type Pack,
  readLooseObject,
  readReferences,
  writeReference,
  writeSigned,
} from "../../src/repositories/git/index.ts";
import { joinPacks } from "../../src/repositories/githost/join-packs.ts";
import { listCommits } from "../../src/repositories/handoff/list-commits.ts";
import { packForAgent, packForOwner } from "../../src/repositories/handoff/new-objects.ts";
import { pushBranch } from "../../src/repositories/handoff/push.ts";
import type { SourceHost } from "../../src/repositories/scm/index.ts";

const person = { name: "Ada", email: "ada@example.com" };
const newCommit = { author: person, committer: person, at: new Date("2026-11-19T01:00:00Z"), message: "Größer\n" };

function bareRepository(format: string) {
  const directory = mkdtempSync(join(tmpdir(), "git-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const git = (args: string[], input: string | Buffer = "") =>
    execFileSync("git", ["--git-dir", directory, ...args], { encoding: "utf8", input, stdio: "pipe" }).trim();
  git(["init", "--quiet", "--bare", `--object-format=${format}`]);
  return { directory, git };
}

test.each(["sha1", "sha256"])(
  "a commit that the server writes is the object that git makes of it (%s)",
  async (format) => {
    const { directory, git } = bareRepository(format);
    const text = commitText({ ...newCommit, tree: git(["write-tree"]), parents: [] });
    const signer = { sign: () => "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----" };
    const name = await writeSigned({ location: { directory }, text, signer });
    const content = execFileSync("git", ["--git-dir", directory, "cat-file", "commit", name]);
    expect(git(["hash-object", "-t", "commit", "--stdin"], content)).toBe(name);
    expect(content.toString()).toContain("\n\nGrößer\n");
    expect(git(["fsck", "--strict", name])).toBe("");
    expect(await writeSigned({ location: { directory }, text, signer })).toBe(name);
  },
);

test.each(["sha1", "sha256"])(
  "a pack that the server writes has the objects and the index that git makes of it (%s)",
  (format) => {
    const { directory, git } = bareRepository(format);
    const contents = [0, 1, 15, 16, 2_047, 2_048, 70_000].map((bytes) => randomBytes(bytes));
    const written = contents.map((content) => git(["hash-object", "-w", "--stdin"], content));
    const tree = git(["mktree"], written.map((name, index) => `100644 blob ${name}\tf${index}\n`).join(""));
    const commit = git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "one", tree]);
    const objects = [...written, tree, commit].map((name) => readLooseObject({ directory }, name, 1_000_000));
    expect(objects.map((object) => object?.name)).toEqual([...written, tree, commit]);
    const { name, pack, index } = formatPack(objects.filter((object) => object !== null));
    const other = bareRepository(format);
    const output = other.git(["index-pack", "--stdin", "--strict"], pack);
    expect(output).toBe(`pack\t${name}`);
    expect(readFileSync(join(other.directory, `objects/pack/pack-${name}.idx`)).equals(index)).toBe(true);
    expect(other.git(["fsck", "--full", "--strict", commit])).toBe("");
    expect(other.git(["ls-tree", "-r", commit])).toBe(git(["ls-tree", "-r", commit]));
  },
);

test("of a new commit everything that the target may lack is packed, or nothing", async () => {
  const upstream = bareRepository("sha1");
  const { directory, git } = bareRepository("sha1");
  writeFileSync(join(directory, "objects/info/alternates"), `${join(upstream.directory, "objects")}\n`);
  const later = upstream.git(["hash-object", "-w", "--stdin"], "pushed by another agent\n");
  const own = git(["hash-object", "-w", "--stdin"], "own\n");
  const inner = git(["mktree"], `100644 blob ${later}\tlater\n100644 blob ${own}\town\n`);
  const tree = git(["mktree"], `040000 tree ${inner}\tinner\n`);
  const commitOn = (...parents: string[]) =>
    git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "one", ...parents, tree]);
  const base = commitOn();
  const commit = commitOn("-p", base);
  const work = { directory, commit, known: [base] };
  const namesIn = (pack: Pack | null) => {
    const { directory: scratch, git: read } = bareRepository("sha1");
    if (pack === null) return null;
    writeFileSync(join(scratch, "objects/pack/pack-x.pack"), pack.pack);
    writeFileSync(join(scratch, "objects/pack/pack-x.idx"), pack.index);
    return read(["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]).split("\n").sort();
  };
  const written = [commit, tree, inner, own].sort();
  expect(namesIn(await packForAgent(work, ["inner/own"]))).toEqual(written);
  expect(await packForAgent(work, ["inner/own", "inner/later"])).toBe(null);
  expect(namesIn(await packForOwner(upstream.directory, work))).toEqual(written);
  expect(await packForOwner(directory, work)).toBe(null);
  expect(await packForOwner(upstream.directory, { ...work, known: [] })).toBe(null);
  git(["update-ref", "refs/heads/main", base]);
  git(["repack", "-q"]);
  expect(await packForOwner(upstream.directory, work)).toBe(null);
});

test("a damaged object is not read, and neither is one that is larger than wanted", () => {
  const { directory, git } = bareRepository("sha1");
  const [one = "", two = ""] = ["one\n", "two\n"].map((text) => git(["hash-object", "-w", "--stdin"], text));
  const pathOf = (name: string) => join(directory, "objects", name.slice(0, 2), name.slice(2));
  expect(readLooseObject({ directory }, one, 100)).toEqual({ name: one, type: "blob", content: Buffer.from("one\n") });
  expect(readLooseObject({ directory }, one, 5)).toBe(null);
  rmSync(pathOf(one));
  copyFileSync(pathOf(two), pathOf(one));
  expect(readLooseObject({ directory }, one, 100)).toBe(null);
});

test("references are read as git reads them, loose and packed, and by nothing but their exact names", async () => {
  const { directory, git } = bareRepository("sha1");
  const [first = "", second = ""] = ["one", "two"].map((message) =>
    git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", message, git(["write-tree"])]),
  );
  for (const name of ["main", "team/work", "old"]) git(["update-ref", `refs/heads/${name}`, first]);
  git(["pack-refs", "--all"]);
  git(["update-ref", "refs/heads/main", second]);
  git(["update-ref", "refs/heads/new", second]);
  git(["update-ref", "-d", "refs/heads/old"]);
  mkdirSync(join(directory, "refs/heads/empty"), { recursive: true });
  writeFileSync(join(directory, "outside"), `${first}\n`);
  const branches = ["main", "team/work", "new", "old", "team", "empty", "../../outside", "main^", "work", "", "a\nb"];
  const names = branches.map((branch) => `refs/heads/${branch}`);
  const expected = new Map([
    ["refs/heads/main", second],
    ["refs/heads/team/work", first],
    ["refs/heads/new", second],
  ]);
  expect(await readReferences(directory, [...names, "HEAD", "outside"])).toEqual(expected);
  const many = Array.from({ length: 1_100 }, (_, index) => `refs/heads/none-${index}`);
  expect(await readReferences(directory, [...names, ...many])).toEqual(expected);
});

test("references are listed as git lists them, loose, packed, symbolic, many and with names that are not text", async () => {
  const { directory, git } = bareRepository("sha1");
  const tree = git(["write-tree"]);
  const [first = "", second = ""] = ["one", "two"].map((message) =>
    git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", message, tree]),
  );
  const listed = async (parents: string[]) => [...(await listReferences(directory, parents))].sort().map(String);
  const byGit = (parents: string[]) =>
    git(["for-each-ref", "--format=%(refname),%(objectname)", ...parents])
      .split("\n")
      .filter(Boolean)
      .sort();
  const expectSame = async () => {
    for (const parents of [["refs/heads"], ["refs/heads", "refs/tags"], ["refs"]])
      expect(await listed(parents)).toEqual(byGit(parents));
  };
  await expectSame();
  for (const name of ["heads/main", "heads/team/work", "heads/old", "tags/v1"])
    git(["update-ref", `refs/${name}`, first]);
  git(["-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "v2", "v2", second]);
  git(["pack-refs", "--all"]);
  git(["update-ref", "refs/heads/main", second]);
  git(["update-ref", "refs/heads/team/new", second]);
  git(["update-ref", "refs/pull/1/head", second]);
  git(["update-ref", "-d", "refs/heads/old"]);
  writeFileSync(join(directory, "refs/heads/main.lock"), `${first}\n`);
  writeFileSync(join(directory, "refs/heads/empty"), "");
  mkdirSync(join(directory, "refs/heads/nothing"));
  await expectSame();
  git(["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
  await expectSame();
  git(["symbolic-ref", "-d", "refs/heads/alias"]);
  writeFileSync(Buffer.from(`${directory}/refs/heads/gr\xfc\xdf`, "latin1"), `${first}\n`);
  await expectSame();
  git(
    ["update-ref", "--stdin"],
    Array.from({ length: 1_100 }, (_, n) => `create refs/heads/n${n} ${first}\n`).join(""),
  );
  await expectSame();
});

test("a reference that the server writes is read by git, and is the new one", async () => {
  const { directory, git } = bareRepository("sha1");
  const tree = git(["write-tree"]);
  for (const message of ["one", "two"]) {
    const commit = git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", message, tree]);
    await writeReference(directory, "refs/pull/7/head", commit);
    expect(git(["for-each-ref", "--format=%(refname) %(objectname)"])).toBe(`refs/pull/7/head ${commit}`);
  }
});

test("commits of a pull request are listed as git lists them, in files of their own and in a pack", async () => {
  const { directory, git } = bareRepository("sha1");
  const tree = git(["write-tree"]);
  const messages = ["Base", "One", "Two\nlines \n\nBody.", "\n\nThree\n \nBody", "Größer", "日本\n", ""];
  const names: string[] = [];
  for (const message of messages) {
    const parents = names.slice(-1).flatMap((name) => ["-p", name]);
    names.push(git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", ...parents, tree], message));
  }
  const [base = "", ...commits] = names;
  const list = () => listCommits({ directory }, { base, head: commits.at(-1) ?? "" }, new AbortController().signal);
  const own = await list();
  expect(own.map(({ name }) => name)).toEqual(commits);
  git(["update-ref", "refs/heads/main", commits.at(-1) ?? ""]);
  git(["repack", "-a", "-d", "-q"]);
  expect(await list()).toEqual(own);
});

test("the packs of many pushes become few, and objects that no branch has stay", async () => {
  const { directory, git } = bareRepository("sha1");
  const blobs = Array.from({ length: 21 }, (_, index) => {
    const name = git(["hash-object", "-w", "--stdin"], `file ${index}`);
    git(["pack-objects", "-q", join(directory, "objects/pack/pack")], `${name}\n`);
    git(["prune-packed"]);
    return name;
  });
  const packs = () => readdirSync(join(directory, "objects/pack")).filter((name) => name.endsWith(".pack"));
  expect(packs()).toHaveLength(21);
  await joinPacks({ directory });
  expect(packs()).toHaveLength(1);
  for (const [index, name] of blobs.entries()) expect(git(["cat-file", "blob", name])).toBe(`file ${index}`);
});

test("of a push to the embedded host that is refused nothing stays there, and the next one arrives whole", async () => {
  const [agent, host] = [bareRepository("sha1"), bareRepository("sha1")];
  const commitOf = (url: string) => {
    const blob = agent.git(["hash-object", "-w", "--stdin"], `[submodule "x"]\n\tpath = x\n\turl = ${url}\n`);
    const tree = agent.git(["mktree"], `100644 blob ${blob}\t.gitmodules\n`);
    return agent.git(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "One", tree]);
  };
  const push = (commit: string) =>
    pushBranch(
      {
        host: { directory: host.directory, notePush: async () => {} } as SourceHost,
        location: { directory: agent.directory },
        branch: "work",
        commit,
        known: [],
        replaceable: undefined,
      },
      new AbortController().signal,
    );
  const before = readdirSync(host.directory, { recursive: true });
  await expect(push(commitOf("-u./payload"))).rejects.toMatchObject({
    code: "push_rejected",
    message: expect.stringContaining("gitmodulesUrl"),
  });
  expect(readdirSync(host.directory, { recursive: true })).toEqual(before);
  const good = commitOf("./payload");
  await push(good);
  expect(host.git(["rev-parse", "refs/heads/work"])).toBe(good);
  expect(host.git(["fsck", "--strict"])).toBe("");
});
