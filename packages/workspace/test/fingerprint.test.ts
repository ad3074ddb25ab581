import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openFingerprint } from "../src/fingerprint.ts";

describe("the fingerprint of a repository", () => {
  const changes: [string, (git: string) => void][] = [
    ["a new branch", (git) => writeFileSync(join(git, "refs/heads/topic"), "2".repeat(40))],
    ["a new branch in a directory", (git) => writeFileSync(join(git, "refs/heads/a/two"), "2".repeat(40))],
    ["a moved branch", (git) => replace(join(git, "refs/heads/main"), "3".repeat(40))],
    ["a removed branch", (git) => rmSync(join(git, "refs/heads/main"))],
    ["packed references", (git) => replace(join(git, "packed-refs"), "# pack-refs\n")],
    ["another HEAD", (git) => replace(join(git, "HEAD"), "ref: refs/heads/topic\n")],
    ["a written index", (git) => replace(join(git, "index"), "entries")],
    ["a setting", (git) => appendFileSync(join(git, "config"), "[a]\n\tb = c\n")],
    ["a merge in progress", (git) => writeFileSync(join(git, "MERGE_HEAD"), "4".repeat(40))],
    ["a rebase in progress", (git) => mkdirWith(join(git, "rebase-merge"), "onto")],
    ["a stash", (git) => mkdirWith(join(git, "logs/refs"), "stash")],
  ];

  it.each(changes)("tells %s, also right after another change", (_, change) => {
    const git = createGitDirectory();
    const read = openFingerprint({ gitDirectory: git, commonDirectory: git });
    writeFileSync(join(git, "refs/heads/before"), "5".repeat(40));
    const before = read();
    change(git);
    expect(read()).not.toBe(before);
    rmSync(git, { recursive: true });
  });

  it.each(changes)("tells %s in a repository that has been the same for long", async (_, change) => {
    const git = createGitDirectory();
    const read = openFingerprint({ gitDirectory: git, commonDirectory: git });
    const before = read();
    await untilClockPasses(60);
    for (let round = 0; round < 3; round++) expect(read()).toBe(before);
    change(git);
    expect(read()).not.toBe(before);
    rmSync(git, { recursive: true });
  });

  it("does not change with locks that come and go", () => {
    const git = createGitDirectory();
    const read = openFingerprint({ gitDirectory: git, commonDirectory: git });
    const before = read();
    const lock = join(git, "refs/heads/main.lock");
    writeFileSync(lock, "");
    expect(read()).toBe(before);
    rmSync(lock);
    expect(read()).toBe(before);
    rmSync(git, { recursive: true });
  });
});

function createGitDirectory(): string {
  const git = mkdtempSync(join(tmpdir(), "fingerprint-"));
  mkdirSync(join(git, "refs/heads/a"), { recursive: true });
  mkdirSync(join(git, "info"));
  writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(git, "config"), "[core]\n");
  writeFileSync(join(git, "refs/heads/main"), "1".repeat(40));
  writeFileSync(join(git, "refs/heads/a/one"), "1".repeat(40));
  return git;
}

/** As git writes. */
function replace(path: string, content: string): void {
  writeFileSync(`${path}.lock`, content);
  renameSync(`${path}.lock`, path);
}

function mkdirWith(directory: string, name: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), "content");
}

/** The fingerprint trusts the times of files only once they are this old. */
async function untilClockPasses(ms: number): Promise<void> {
  const end = Date.now() + ms;
  await expect.poll(() => Date.now(), { interval: 5 }).toBeGreaterThan(end);
}
