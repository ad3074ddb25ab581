import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { ChangedFile } from "@agentcli/engine/review";
import { temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Program } from "../src/program.ts";
import { collectChange } from "../src/review/collect.ts";

type Wanted = Parameters<typeof collectChange>[0];

async function repository(files: Record<string, string> = { "a.txt": "one\ntwo\nthree\nfour\nfive\n" }) {
  const made = await temporaryRepository(files);
  onTestFinished(made.remove);
  const write = (name: string | Buffer, content: string | Buffer) => {
    const path = Buffer.concat([Buffer.from(`${made.path}/`), Buffer.from(name)]);
    writeFileSync(path, content);
  };
  const commit = async (message: string) => {
    await made.git("add", "--all");
    await made.git("commit", "--quiet", `--message=${message}`);
    return (await made.git("rev-parse", "HEAD")).trim();
  };
  return { ...made, write, commit, collect: (wanted: Wanted, directory = made.path) => collectIn(wanted, directory) };
}

const collectIn = async (wanted: Wanted, directory: string, variables: NodeJS.ProcessEnv = {}) => {
  const { PATH } = process.env;
  const programs = openHostPrograms({ path: PATH, home: "/nonexistent", untrusted: [] });
  const environment = { variables: { PATH, HOME: "/nonexistent", ...variables }, userHome: "/nonexistent", programs };
  const program = { environment, signal: new AbortController().signal } as unknown as Program;
  const progress: string[] = [];
  const onProgress = (line: string) => void progress.push(line);
  const change = await collectChange(wanted, { directory, program, maxBytes: 100_000, onProgress });
  return { ...change, progress, diff: change.files.map(({ header, body }) => `${header}\n${body}\n`).join("") };
};

const paths = (files: ChangedFile[]) => files.map(({ path }) => path);
const problem = async (promise: Promise<unknown>) => {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommandError);
  expect((error as CommandError).exit).toBe("usage");
  return (error as CommandError).message;
};
const uncommitted: Wanted = { kind: "uncommitted" };
const ofCommit = (name: string, title?: string): Wanted => ({ kind: "commit", name, title });

describe("uncommitted changes", () => {
  test("are staged, unstaged and untracked ones, and the index stays as it was", async () => {
    const { git, write, collect, path } = await repository({ "a.txt": "a\n", "b.txt": "b\n", ".gitignore": "*.log\n" });
    write("a.txt", "staged\n");
    await git("add", "a.txt");
    write("b.txt", "unstaged\n");
    write("new.txt", "untracked\n");
    write("noise.log", "ignored\n");
    mkdirSync(join(path, "deep"));
    write("deep/*.ts", "a star in a name\n");
    write(":y", "what git takes for more than a name\n");
    const before = await git("status", "--porcelain");
    const { files, root } = await collect(uncommitted, join(path, "deep"));
    expect(paths(files)).toEqual([":y", "a.txt", "b.txt", "deep/*.ts", "new.txt"]);
    expect(root).toBe(path);
    expect(await git("status", "--porcelain")).toBe(before);
  });

  test("see renames, deletions, modes, binaries, links and names of any bytes", async () => {
    const { write, collect, path } = await repository({
      "old.txt": "1\n2\n3\n4\n5\n6\n",
      "gone.txt": "it was here\n",
      "run.sh": "true\n",
      file: "text\n",
    });
    rmSync(join(path, "old.txt"));
    write("moved.txt", "1\n2\n3\n4\n5\n6\n7\n");
    rmSync(join(path, "gone.txt"));
    chmodSync(join(path, "run.sh"), 0o755);
    rmSync(join(path, "file"));
    symlinkSync("run.sh", join(path, "file"));
    write("image.png", Buffer.from([0x89, 0x50, 0, 1, 2, 3]));
    write(Buffer.from([0x6e, 0xff, 0x78]), "not UTF-8 in its name\n");
    write("spa ce\ttab", "x\n");
    const { diff, files } = await collect(uncommitted);
    expect(diff).toContain("rename from old.txt\nrename to moved.txt");
    expect(diff).toContain("deleted file mode 100644");
    expect(diff).toContain("old mode 100644\nnew mode 100755");
    expect(diff).toContain("Binary files /dev/null and b/image.png differ");
    const named = paths(files);
    for (const name of ["moved.txt", "gone.txt", "run.sh", "file", "image.png", "n\ufffdx", "spa ce\ttab"]) {
      expect(named).toContain(name);
    }
  });

  test("with 3,000 untracked files and one too large to be compared are all named, with their progress", async () => {
    const { write, collect, path } = await repository();
    mkdirSync(join(path, "many"));
    for (let index = 0; index < 3_000; index += 1) write(`many/${index}.txt`, `${index}\n`);
    write("huge.txt", "a line of a file that is too large\n".repeat(500_000));
    write("image.png", Buffer.from([0x89, 0x50, 0, 1, 2, 3]));
    const { files, progress } = await collect(uncommitted);
    expect(files).toHaveLength(3_002);
    expect(files.filter(({ kind }) => kind !== "text").map(({ path, kind }) => [path, kind])).toEqual([
      ["huge.txt", "oversized"],
      ["image.png", "binary"],
    ]);
    expect(progress).toEqual(["Collecting the change …", "The change: 3002 files, 3000 changed lines."]);
  });

  test("of a repository without a commit are everything in it", async () => {
    const { path, remove } = await temporaryDirectory({ "a.txt": "a\n" });
    onTestFinished(remove);
    const made = await repository();
    await made.git("init", "--quiet", path);
    expect(paths((await collectIn(uncommitted, path)).files)).toEqual(["a.txt"]);
  });

  test("do not include other repositories within, and leave no temporary files", async () => {
    const { git, collect, path } = await repository();
    await git("init", "--quiet", "nested");
    const temporary = await temporaryDirectory();
    onTestFinished(temporary.remove);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("TMPDIR", temporary.path);
    expect((await collect(uncommitted)).diff).toBe("");
    expect(readdirSync(temporary.path)).toEqual([]);
    expect(existsSync(join(path, "nested/.git"))).toBe(true);
  });

  test("are shown in one form, whatever is configured, and start no program", async () => {
    const { git, write, collect, path } = await repository({ "a.txt": "one\ntwo\n\nfour\n" });
    const trap = join(path, ".git", "sprung");
    const program = join(path, ".git", "trap.sh");
    write(".git/trap.sh", `#!/bin/sh\ntouch '${trap}'\n`);
    chmodSync(program, 0o755);
    mkdirSync(join(path, ".git/hooks"), { recursive: true });
    for (const [key, value] of [
      ["core.fsmonitor", program],
      ["core.pager", program],
      ["diff.external", program],
      ["diff.trap.textconv", program],
      ["diff.trap.command", program],
      ["diff.noprefix", "true"],
      ["diff.mnemonicPrefix", "true"],
      ["diff.suppressBlankEmpty", "true"],
      ["diff.context", "0"],
      ["color.ui", "always"],
    ] as const) {
      await git("config", key, value);
    }
    write(".git/info/attributes", "*.txt diff=trap\n");
    write(".git/hooks/post-index-change", `#!/bin/sh\ntouch '${trap}'\n`);
    chmodSync(join(path, ".git/hooks/post-index-change"), 0o755);
    write("a.txt", "one\n2\n\nfour\n");
    write("new.txt", "untracked\n");
    rmSync(trap, { force: true });
    const variables = { GIT_EXTERNAL_DIFF: program, GIT_PAGER: program, GIT_DIR: "/nonexistent" };
    const { diff } = await collectIn(uncommitted, path, variables);
    expect(existsSync(trap)).toBe(false);
    expect(diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n \n four\n");
    expect((await collect(uncommitted)).diff).toBe(diff);
  });
});

describe("a branch against its base", () => {
  test("is what it added since they parted", async () => {
    const { git, write, commit, collect } = await repository();
    const parting = (await git("rev-parse", "HEAD")).trim();
    await git("checkout", "--quiet", "-b", "feature");
    write("feature.txt", "mine\n");
    await commit("Mine");
    await git("checkout", "--quiet", "main");
    write("other.txt", "theirs\n");
    await commit("Theirs");
    await git("checkout", "--quiet", "feature");
    const { files, target } = await collect({ kind: "base", branch: "main" });
    expect(paths(files)).toEqual(["feature.txt"]);
    expect(target).toEqual({ kind: "base", branch: "main", mergeBase: parting });
  });

  test("finds a base that only a remote has", async () => {
    const { git, write, commit, path } = await repository();
    const clone = await temporaryDirectory();
    onTestFinished(clone.remove);
    await git("branch", "release");
    write("b.txt", "b\n");
    await commit("More");
    await git("clone", "--quiet", path, clone.path);
    const { files, target } = await collectIn({ kind: "base", branch: "release" }, clone.path);
    expect(paths(files)).toEqual(["b.txt"]);
    expect(target).toMatchObject({ branch: "origin/release" });
  });

  test("that does not exist is an error that names it and similar names", async () => {
    const { git, collect } = await repository();
    await git("branch", "release-2");
    expect(await problem(collect({ kind: "base", branch: "mian" }))).toBe(
      'There is no branch "mian" in this repository. Did you mean main?',
    );
    expect(await problem(collect({ kind: "base", branch: "release" }))).toContain("Did you mean release-2?");
    expect(await problem(collect({ kind: "base", branch: "xyz" }))).toContain("Branches: main, release-2.");
    expect(await problem(collect({ kind: "base", branch: "--output=x" }))).toContain('no branch "--output=x"');
    expect(await problem(collect({ kind: "base", branch: "" }))).toContain('no branch ""');
  });

  test("without a common commit is an error that says how to get one", async () => {
    const { git, collect } = await repository();
    await git("checkout", "--quiet", "--orphan", "alone");
    await git("commit", "--quiet", "--allow-empty", "--message=Alone");
    expect(await problem(collect({ kind: "base", branch: "main" }))).toContain("git fetch --unshallow");
  });
});

describe("one commit", () => {
  test("is compared with its parent and named by its subject", async () => {
    const { write, commit, collect } = await repository();
    write("b.txt", "b\n");
    const sha = await commit("Add b");
    write("c.txt", "c\n");
    await commit("Add c");
    const { files, target } = await collect(ofCommit(sha.slice(0, 8)));
    expect(paths(files)).toEqual(["b.txt"]);
    expect(target).toEqual({ kind: "commit", sha, title: "Add b" });
    expect((await collect(ofCommit("HEAD~1", "My words"))).target).toMatchObject({ title: "My words" });
  });

  test("that merges is what it brought to its first parent", async () => {
    const { git, write, commit, collect } = await repository();
    await git("checkout", "--quiet", "-b", "side");
    write("side.txt", "side\n");
    await commit("Side");
    await git("checkout", "--quiet", "main");
    write("main.txt", "main\n");
    await commit("Main");
    await git("merge", "--quiet", "--no-ff", "--message=Merge side", "side");
    expect(paths((await collect(ofCommit("HEAD"))).files)).toEqual(["side.txt"]);
  });

  test("that is the first is everything in it", async () => {
    const { collect } = await repository({ "a.txt": "a\n", "b.txt": "b\n" });
    expect(paths((await collect(ofCommit("HEAD"))).files)).toEqual(["a.txt", "b.txt"]);
  });

  test("with a submodule shows which commit it points to", async () => {
    const inner = await repository();
    const { git, commit, collect } = await repository();
    await git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "inner");
    await commit("Add a submodule");
    const { diff, files } = await collect(ofCommit("HEAD"));
    expect(paths(files)).toEqual([".gitmodules", "inner"]);
    expect(diff).toMatch(/\+Subproject commit [0-9a-f]{40}/);
  });

  test("that is not there is an error that names it", async () => {
    const { collect } = await repository();
    expect(await problem(collect(ofCommit("deadbeef")))).toContain('There is no commit "deadbeef"');
    expect(await problem(collect(ofCommit("main:a.txt")))).toContain('There is no commit "main:a.txt"');
  });

  test("whose parent a shallow clone does not have is not taken for a first commit", async () => {
    const { git, write, commit, path } = await repository();
    write("b.txt", "b\n");
    await commit("More");
    const clone = await temporaryDirectory();
    onTestFinished(clone.remove);
    await git("clone", "--quiet", "--depth=1", `file://${path}`, clone.path);
    expect(await problem(collectIn(ofCommit("HEAD"), clone.path))).toContain("git fetch --deepen=1");
  });
});
