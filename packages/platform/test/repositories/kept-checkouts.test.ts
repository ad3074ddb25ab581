// The files of a small commit are the same whether git writes them or the server does.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKeptCheckouts } from "../../src/repositories/workspaces/kept-checkouts.ts";
import { agentWork, never, openGitHarness } from "./git-harness.ts";
import { serveHttp } from "./git-servers.ts";

const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" }).trim();

test("the second agent of a commit gets what the first one got, and git sees what either changes", async () => {
  const harness = await openGitHarness();
  const server = await serveHttp(harness.served);
  onTestFinished(async () => {
    await server.close();
    await harness.remove();
  });
  const repository = await harness.makeRepository("shop", { "README.md": "# Shop\n", "deep/er/file": "deep\n" });
  const clone = join(harness.data, "..", "clone");
  gitIn("/", "clone", "--quiet", repository.directory, clone);
  writeFileSync(join(clone, ".gitattributes"), "*.txt text eol=crlf\n");
  writeFileSync(join(clone, "lines.txt"), "one\ntwo\n");
  writeFileSync(join(clone, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(clone, "run.sh"), 0o755);
  symlinkSync("deep/er/file", join(clone, "link"));
  const submodule = `160000,${"1".repeat(40)},module`;
  gitIn(clone, "add", "--all");
  gitIn(clone, "update-index", "--add", "--cacheinfo", submodule);
  gitIn(clone, "commit", "--quiet", "-m", "Files of all kinds");
  gitIn(clone, "push", "--quiet");

  const open = async () =>
    (await harness.workspaces.open(agentWork({ repos: [{ url: `${server.url}/shop.git` }] }), never())).root;
  const filesOf = (root: string) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => !/^\.git(?:\/|$)/.test(name))
      .sort()
      .map((name) => {
        const { mode, mtimeMs } = lstatSync(join(root, name));
        const kind = mode & 0o170000;
        if (kind === 0o040000) return [name, mode];
        const content = kind === 0o120000 ? readlinkSync(join(root, name)) : readFileSync(join(root, name), "utf8");
        return [name, mode, Math.floor(mtimeMs / 1000), content];
      });
  const first = await open();
  const [files, index] = [filesOf(first), readFileSync(join(first, ".git/index"))];
  expect(readFileSync(join(first, "lines.txt"), "utf8")).toBe("one\r\ntwo\r\n");
  writeFileSync(join(first, "README.md"), "# Mine\n");
  const second = await open();
  expect(filesOf(second)).toEqual(files);
  // Git would have noted other inodes.
  expect(readFileSync(join(second, ".git/index")).equals(index)).toBe(true);
  expect(gitIn(second, "diff-files")).toBe("");
  expect(gitIn(second, "status", "--porcelain")).toBe("");
  writeFileSync(join(second, "run.sh"), "#!/bin/xx\n");
  expect(gitIn(second, "status", "--porcelain")).toBe("M run.sh");
  expect(gitIn(first, "status", "--porcelain")).toBe("M README.md");
});

function checkout(files: number): string {
  const path = mkdtempSync(join(tmpdir(), "checkout-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  gitIn(path, "init", "--quiet");
  for (let number = 0; number < files; number += 1) writeFileSync(join(path, `f${number}`), "x".repeat(1_000));
  gitIn(path, "add", "--all");
  return path;
}

function emptyDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "checkout-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  mkdirSync(join(path, ".git"));
  return path;
}

test("of many checkouts those that were used last are kept, and none with many files", () => {
  const kept = openKeptCheckouts(30_000);
  const isKept = (key: string) => kept.write(key, emptyDirectory());
  kept.keep("large", checkout(201));
  expect(isKept("large")).toBe(false);
  const path = checkout(10);
  kept.keep("one", path);
  kept.keep("two", path);
  expect(isKept("one")).toBe(true);
  kept.keep("three", path);
  expect(["one", "two", "three"].map(isKept)).toEqual([true, false, true]);
  const target = emptyDirectory();
  kept.write("one", target);
  expect(existsSync(join(target, "f9"))).toBe(true);
});
