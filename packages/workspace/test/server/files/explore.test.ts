// What a model meets when it explores a repository: ignored files, large folders, long lines; with and without ripgrep.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SearchRequest } from "@agentcli/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { compileGlob, readRule } from "../../../src/ignore/index.ts";
import { fairShares, listDirectory } from "../../../src/server/files/list.ts";
import { searchFiles } from "../../../src/server/files/search.ts";
import { makeTree, type Tree } from "../../support/file-tree.ts";
import { openInSandbox, withWorkspace } from "../../support/locations.ts";

const searchPath = process.env.PATH ?? "";
afterEach(() => {
  process.env.PATH = searchPath;
});

const repository: Tree = {
  ".git/config": "",
  ".gitignore": "*.log\n/dist/\nbuild\n!keep.log\n# comment\nsub/only.txt\n**/deep/*.tmp\n",
  "a.ts": "needle\n",
  "a.log": "needle\n",
  "keep.log": "needle\n",
  "dist/out.js": "needle\n",
  "src/dist/in.js": "needle\n",
  "src/build": "needle\n",
  "src/.gitignore": "*.gen.ts\n!/build\n",
  "src/b.gen.ts": "needle\n",
  "src/b.tsx": "needle\n",
  "sub/only.txt": "needle\n",
  "sub/other.txt": "needle\n",
  "x/deep/a.tmp": "needle\n",
  "x/deep/a.py": "needle\n",
};

const list = (root: string, more: object) => listDirectory({ root, writable: [] }, { path: ".", ...more });
const pathsOf = async (root: string, more: object) => {
  const result = await list(root, more);
  return result.kind === "entries" ? result.entries.map(({ path }) => path) : result;
};
const visible = [
  "keep.log",
  "src/.gitignore",
  "src/b.tsx",
  "src/build",
  "src/dist/in.js",
  "sub/other.txt",
  "x/deep/a.py",
];

describe("a repository", () => {
  test("is listed without .git and what git ignores, which is named", async () => {
    const root = await makeTree(repository);
    expect(await pathsOf(root, { depth: 3 })).toEqual(
      [".gitignore", "a.ts", "src", "src/dist", "sub", "x", "x/deep", ...visible].sort((a, b) => compare(a, b)),
    );
    expect(await list(root, {})).toMatchObject({ cut: false, ignored: ["a.log", "dist/"] });
    expect(await pathsOf(root, { path: "dist" })).toEqual(["out.js"]);
  });

  test("is ignored as git itself does", async () => {
    const root = await makeTree(
      Object.fromEntries(Object.entries(repository).filter(([path]) => path !== ".git/config")),
    );
    expect(spawnSync("git", ["init", "-q", root]).status).toBe(0);
    const git = spawnSync("git", ["ls-files", "-o", "--exclude-standard"], { cwd: root, encoding: "utf8" });
    expect((await pathsOf(root, { glob: "**" })) as string[]).toEqual(git.stdout.trim().split("\n").sort(compare));
  });

  test("is ignored nowhere outside of a repository", async () => {
    expect(await pathsOf(await makeTree({ ".gitignore": "a\n", a: "", b: "" }), {})).toEqual([".gitignore", "a", "b"]);
  });

  test("is searched by globs for file names and paths", async () => {
    const root = await makeTree(repository);
    expect(await pathsOf(root, { glob: "*.{ts,tsx}" })).toEqual(["a.ts", "src/b.tsx"]);
    expect(await pathsOf(root, { glob: "./src/**" })).toEqual(visible.slice(1, 5));
    expect(await pathsOf(root, { path: "x", glob: "deep/*" })).toEqual(["deep/a.py"]);
    expect(await list(root, { glob: "**", limit: 2 })).toMatchObject({ cut: true, entries: { length: 2 } });
    expect(await list(root, { glob: "[" })).toMatchObject({ kind: "fault", code: "invalid" });
    expect(await list(root, { path: "none", glob: "*" })).toMatchObject({ kind: "fault", code: "missing" });
  });
});

const compare = (left: string, right: string) => {
  const [ours, theirs] = [left.split("/"), right.split("/")];
  const at = ours.findIndex((name, index) => name !== theirs[index]);
  return at < 0 ? ours.length - theirs.length : (ours[at] ?? "") < (theirs[at] ?? "") ? -1 : 1;
};

test("beyond the limit every folder gets a share, and what is left out is counted", async () => {
  const many = (folder: string, count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`${folder}/${String(index).padStart(3, "0")}`, ""]),
    );
  const root = await makeTree({ ...many("a", 100), ...many("b", 3), ...many("c", 100), z: "" });
  const result = await list(root, { depth: 2, limit: 27 });
  if (result.kind === "fault") throw new Error(result.message);
  const count = (folder: string) => result.entries.filter(({ path }) => path.startsWith(`${folder}/`)).length;
  expect([count("a"), count("b"), count("c")]).toEqual([10, 3, 10]);
  expect(result.entries.at(-1)?.path).toBe("z");
  expect(result.entries.filter(({ omitted }) => omitted)).toEqual([
    expect.objectContaining({ path: "a", omitted: 90 }),
    expect.objectContaining({ path: "c", omitted: 90 }),
  ]);
  expect(await list(root, { path: "a", limit: 5 })).toMatchObject({ cut: true, omitted: 95, entries: { length: 5 } });
});

test("shares never exceed the room or a need, and leave no room while there is need", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 20 }), fc.nat(300), (needs, room) => {
      const shares = fairShares(needs, room);
      const sum = shares.reduce((total, share) => total + share, 0);
      for (const [index, share] of shares.entries()) expect(share).toBeLessThanOrEqual(needs[index] ?? 0);
      expect(sum).toBe(
        needs.length === 0
          ? 0
          : Math.min(
              room,
              needs.reduce((total, need) => total + need, 0),
            ),
      );
    }),
  );
});

test("folders that only the sandbox put there are not listed", () =>
  withWorkspace(
    (root) => openInSandbox({ mode: "workspace-write", root }),
    async (workspace, root) => {
      mkdirSync(join(root, "real"));
      writeFileSync(join(root, "file"), "");
      const result = await workspace.list({ path: "." });
      expect(result.kind === "entries" && result.entries.map(({ path }) => path)).toEqual(["file", "real"]);
    },
  ));

test("no line of a .gitignore and no glob makes the reader fail", () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."*?[]!\\/{}a,.# ") }));
  fc.assert(
    fc.property(text, text, (line, path) => {
      for (const { matches } of readRule(line)) matches(path);
      compileGlob(line)?.(path);
    }),
    { numRuns: 2000 },
  );
});

describe.each([
  ["with ripgrep", searchPath],
  ["without ripgrep", "/nonexistent"],
])("%s", (_name, path) => {
  const search = async (root: string, request: SearchRequest) => {
    process.env.PATH = path;
    const result = await searchFiles({ root, writable: [] }, request);
    if (result.kind === "fault") throw new Error(result.message);
    return result;
  };
  const shown = async (root: string, request: SearchRequest) =>
    (await search(root, request)).matches.map((match) => `${match.path}${match.context ? "-" : ":"}${match.line}`);

  test("what git ignores is not searched, unless it is named", async () => {
    const root = await makeTree(repository);
    expect(await shown(root, { pattern: "needle" })).toEqual(
      ["a.ts:1", ...visible.filter((name) => name !== "src/.gitignore").map((name) => `${name}:1`)].sort(),
    );
    expect(await shown(root, { pattern: "needle", path: "dist" })).toEqual(["dist/out.js:1"]);
    expect(await shown(root, { pattern: "needle", path: "a.log" })).toEqual(["a.log:1"]);
  });

  test("types and globs narrow a search together", async () => {
    const root = await makeTree(repository);
    expect(await shown(root, { pattern: "needle", type: "ts" })).toEqual(["a.ts:1", "src/b.tsx:1"]);
    expect(await shown(root, { pattern: "needle", type: "typescript", include: "src/**" })).toEqual(["src/b.tsx:1"]);
    expect(await shown(root, { pattern: "needle", type: ".py" })).toEqual(["x/deep/a.py:1"]);
    expect(await shown(root, { pattern: "needle", type: "cobol" })).toEqual([]);
  });

  test("only files: each is named once, and the limit counts files", async () => {
    const root = await makeTree({ a: "x\nx\n", b: "y\n", c: "x\nx\nx\n", d: "x\n" });
    expect(await shown(root, { pattern: "x", filesOnly: true })).toEqual(["a:1", "c:1", "d:1"]);
    expect(await search(root, { pattern: "x", filesOnly: true, limit: 2 })).toMatchObject({
      cut: true,
      matches: { length: 2 },
    });
  });

  test("lines around matches are marked and occur once", async () => {
    const root = await makeTree({ a: "1\n2\nx3\n4\nx5\r\n6\n7\n8\n9\nx10\n", b: "x1\n2\n" });
    expect(await shown(root, { pattern: "x", context: 1 })).toEqual([
      "a-2",
      "a:3",
      "a-4",
      "a:5",
      "a-6",
      "a-9",
      "a:10",
      "b:1",
      "b-2",
    ]);
    expect((await search(root, { pattern: "x", context: 1, path: "a" })).matches[4]).toMatchObject({
      line: 6,
      text: "6",
    });
  });

  test("a long line is shown around its match", async () => {
    const line = `${"é".repeat(1000)}needle${"x".repeat(100_000)}`;
    const root = await makeTree({ "a.min.js": `short needle\r\n${line}\r\n` });
    const { matches } = await search(root, { pattern: "needle" });
    expect(matches[0]?.text).toBe("short needle");
    expect(matches[1]?.text).toBe(
      `[from character 751] …${"é".repeat(250)}needle${"x".repeat(244)}… [line cut, ${Buffer.byteLength(line)} bytes in all]`,
    );
  });
});
