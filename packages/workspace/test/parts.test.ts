// Small parts: output buffer, login environment, git readers, lazy workspace.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk } from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findRepositoryRoot, readHead } from "../src/git/repository.ts";
import { lazyWorkspace } from "../src/lifecycle/lazy.ts";
import { readGitlinks } from "../src/sandbox/gitlinks.ts";
import { openOutputBuffer } from "../src/server/processes/output-buffer.ts";
import { openServer } from "../src/server/server.ts";
import { bash, until } from "./support/commands.ts";
import { openInProcess, temporaryDirectory, toolEnv } from "./support/locations.ts";

let base = "";
beforeEach(() => {
  base = temporaryDirectory();
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("the output buffer", () => {
  const replayOf = (buffer: ReturnType<typeof openOutputBuffer>, after: number) => {
    const chunks: Chunk[] = [];
    buffer.follow(after, (chunk) => void chunks.push(chunk))();
    return chunks;
  };

  test("keeps head and tail and counts every byte it drops", () => {
    const size = fc.integer({ min: 1, max: 400_000 });
    const property = fc.property(fc.array(size, { maxLength: 60, size: "max" }), (sizes) => {
      const buffer = openOutputBuffer(() => undefined);
      for (const [index, length] of sizes.entries()) buffer.append("stdout", String(index % 10).repeat(length));
      const kept = replayOf(buffer, 0);
      const total = sizes.reduce((sum, length) => sum + length, 0);
      const bytes = kept.reduce((sum, chunk) => sum + chunk.text.length, 0);
      expect(bytes + buffer.droppedBytes()).toBe(total);
      expect(bytes).toBeLessThanOrEqual(8 * 1024 * 1024);
      if (total <= 4 * 1024 * 1024) expect(buffer.droppedBytes()).toBe(0);
      expect(kept.at(0)?.seq ?? 1).toBe(1);
      expect(kept.at(-1)?.seq ?? 0).toBe(sizes.length);
      expect(kept.map((chunk) => chunk.seq)).toEqual(kept.map((chunk) => chunk.seq).sort((a, b) => a - b));
    });
    fc.assert(property, { numRuns: 30 });
  });

  test("is bounded for single characters too", () => {
    const buffer = openOutputBuffer(() => undefined);
    for (let count = 0; count < 300_000; count += 1) buffer.append("stdout", "x");
    expect(replayOf(buffer, 0).length).toBeLessThanOrEqual((8 * 1024 * 1024) / 64);
    expect(replayOf(buffer, 299_999)).toEqual([{ seq: 300_000, stream: "stdout", text: "x" }]);
  });
});

test("the environment of a login shell is captured once, ahead of the first command", async () => {
  const shell = join(base, "shell");
  writeFileSync(shell, `#!/bin/sh\necho started >> ${base}/starts\nexport FROM_PROFILE=yes\nexec sh -c "$2"\n`, {
    mode: 0o755,
  });
  const config = { root: base, writable: "anywhere", env: toolEnv(), orphans: "ended-by-watchdog" } as const;
  const server = openServer({ ...config, warmLoginShell: shell });
  await until(() => existsSync(join(base, "starts")));
  for (const _ of [1, 2]) {
    expect((await bash(server, "echo $FROM_PROFILE", { loginShell: shell })).stdout).toBe("yes\n");
  }
  expect(readFileSync(join(base, "starts"), "utf8")).toBe("started\n");
  await server.close();
});

describe("a repository read from its files", () => {
  const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", base, ...words], { encoding: "utf8", env: { ...process.env, ...author } }).trim();
  const commit = () => git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");

  test("is found from a subdirectory, and not at an empty .git", () => {
    mkdirSync(join(base, "a/b/.git"), { recursive: true });
    expect(findRepositoryRoot(join(base, "a/b"))).toBe(undefined);
    git("init", "-q");
    expect(findRepositoryRoot(join(base, "a/b"))).toBe(base);
  });

  test("reports branch and commit: unborn, loose, packed and detached", () => {
    git("init", "-q", "-b", "topic/one");
    expect(readHead(base)).toEqual({ branch: "topic/one", commit: null });
    commit();
    const head = git("rev-parse", "HEAD");
    expect(readHead(base)).toEqual({ branch: "topic/one", commit: head });
    git("pack-refs", "--all");
    expect(readHead(base)).toEqual({ branch: "topic/one", commit: head });
    git("checkout", "-q", "--detach");
    expect(readHead(base)).toEqual({ branch: null, commit: head });
  });

  test("works in a linked working tree and a submodule-like pointer", () => {
    git("init", "-q", "-b", "main");
    commit();
    git("worktree", "add", "-q", join(base, "tree"), "-b", "side");
    expect(findRepositoryRoot(join(base, "tree"))).toBe(join(base, "tree"));
    expect(readHead(join(base, "tree"))).toEqual({ branch: "side", commit: git("rev-parse", "HEAD") });
  });

  test.each([
    ["of version 2", ["init", "-q"], ["update-index", "--index-version", "2"]],
    ["of version 4", ["init", "-q"], ["update-index", "--index-version", "4"]],
    ["that is split", ["init", "-q"], ["update-index", "--split-index"]],
    ["with sha256", ["init", "-q", "--object-format=sha256"], ["update-index", "--index-version", "4"]],
  ])("lists the gitlinks of an index %s", (_, init, change) => {
    git(...init);
    const commit = git("commit-tree", git("write-tree"), "-m", "x");
    const blob = git("hash-object", "-w", "/dev/null");
    const paths = ["a", "a-long-name/with-a-directory/below", "lib", "lib2/b", "z\u00fc"];
    for (const name of ["0", "a.txt", "a-long-name/x", "lib2/a", "zz"])
      git("update-index", "--add", "--cacheinfo", `100644,${blob},${name}`);
    expect(readGitlinks(join(base, ".git"))).toEqual([]);
    for (const path of paths) git("update-index", "--add", "--cacheinfo", `160000,${commit},${path}`);
    git(...change);
    expect(readGitlinks(join(base, ".git")).map(String).sort()).toEqual([...paths].sort());
  });

  test("is not fooled by a reference that climbs", () => {
    mkdirSync(join(base, ".git"));
    writeFileSync(join(base, "secret"), "0".repeat(40));
    writeFileSync(join(base, ".git/HEAD"), "ref: refs/heads/../../../secret\n");
    expect(readHead(base).commit).toBe(null);
  });
});

describe("a lazy workspace", () => {
  test("opens once, on first use, and knows its root and incarnation before", async () => {
    let opened = 0;
    const workspace = lazyWorkspace({
      root: base,
      newIncarnation: () => "mine",
      async open() {
        opened += 1;
        return openInProcess(base);
      },
    });
    expect([workspace.root, workspace.incarnation, opened]).toEqual([base, "mine", 0]);
    await workspace.release([]);
    expect(opened).toBe(0);
    workspace.warm();
    await Promise.all([workspace.status(), workspace.status()]);
    expect(opened).toBe(1);
    await workspace.close();
    await expect(workspace.status()).rejects.toThrow("closed");
  });

  test("that is lost fails its pending calls, and is reopened a few times with a new incarnation", async () => {
    const opened: string[] = [];
    let closed = 0;
    const workspace = lazyWorkspace({
      root: base,
      newIncarnation: () => `number ${opened.length}`,
      async open(incarnation) {
        opened.push(incarnation);
        const lose = () => Promise.reject(new WorkspaceLost("it was ended."));
        return {
          ...(await openInProcess(base)),
          status: lose,
          release: lose,
          async close() {
            closed += 1;
          },
        };
      },
    });
    const both = await Promise.allSettled([workspace.status(), workspace.status()]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect({ opened, closed, now: workspace.incarnation }).toEqual({
      opened: ["number 0"],
      closed: 1,
      now: "number 1",
    });
    workspace.warm();
    await workspace.release([]);
    for (let time = 2; time < 5; time += 1) await expect(workspace.status()).rejects.toThrow(WorkspaceLost);
    await expect(workspace.status()).rejects.toThrow("lost 4 times in this run");
    expect(opened).toHaveLength(4);
    await workspace.close();
  });

  test("reports a failure to open at the first use, and can still be closed", async () => {
    const open = () => Promise.reject(new Error("no luck"));
    const workspace = lazyWorkspace({ root: base, newIncarnation: () => "i", open });
    workspace.warm();
    await expect(workspace.status()).rejects.toThrow("no luck");
    await workspace.close();
  });
});
