// Searching files: one suite for ripgrep and for the walk that replaces it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { SearchRequest } from "@agentcli/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { searchFiles } from "../../../src/server/files/index.ts";
import { makeTree, type Tree } from "../../support/file-tree.ts";

const searchPath = process.env.PATH;
afterEach(() => {
  process.env.PATH = searchPath;
});

test("ripgrep is installed, so that both ways are tested (apt-get install ripgrep)", () => {
  expect(spawnSync("rg", ["--version"]).status).toBe(0);
});

const tree: Tree = {
  "src/b.ts": "const one = 1;\nconst two = 2;\n\nconst three = 3;\n",
  "src/a.ts": "const zero = 0;\r\nlet x;\r\n",
  "src/a/deep.tsx": "const deep = true;\n",
  "src.txt": "const text\n",
  "-dash": "const dash\n",
  ".hidden/c": "const hidden\n",
  ".git/config": "const git\n",
  "node_modules/m/index.js": "const dependency\n",
  "sub/node_modules/m.js": "const dependency\n",
  "binary.bin": Buffer.from("const \0 binary\n"),
  link: { link: "src/b.ts" },
  "link-to-directory": { link: "src" },
};

describe.each([
  ["with ripgrep", "rg"],
  ["by walking", "walk"],
])("%s", (_name, way) => {
  beforeEach(() => {
    if (way === "walk") process.env.PATH = "/nonexistent";
  });
  const search = (root: string, request: SearchRequest, timeoutMs?: number) =>
    searchFiles({ root, writable: [] }, request, timeoutMs);
  const found = async (request: SearchRequest) => {
    const answer = await search(await makeTree(tree), request);
    return answer.kind === "matches" ? answer.matches.map(({ path, line }) => `${path}:${line}`) : answer;
  };

  test("matches come by path and line, hidden files included, .git and node_modules left out", async () => {
    expect(await found({ pattern: "const" })).toEqual([
      "-dash:1",
      ".hidden/c:1",
      "src/a/deep.tsx:1",
      "src/a.ts:1",
      "src/b.ts:1",
      "src/b.ts:2",
      "src/b.ts:4",
      "src.txt:1",
    ]);
  });

  test("a match has the whole line, without its ending", async () => {
    expect(await search(await makeTree(tree), { pattern: "zero|two" })).toEqual({
      kind: "matches",
      matches: [
        { path: "src/a.ts", line: 1, text: "const zero = 0;" },
        { path: "src/b.ts", line: 2, text: "const two = 2;" },
      ],
      cut: false,
    });
  });

  const requests: [string, SearchRequest, string[]][] = [
    ["no match is not an error", { pattern: "absent" }, []],
    [
      "a subdirectory can be searched, and its name stays in the paths",
      { pattern: "=", path: "src/a" },
      ["src/a/deep.tsx:1"],
    ],
    ["a slash at the end of the path does not matter", { pattern: "=", path: "./src/a/" }, ["src/a/deep.tsx:1"]],
    ["a single file can be searched", { pattern: "t", path: "src/a.ts" }, ["src/a.ts:1", "src/a.ts:2"]],
    ["node_modules is searched when named", { pattern: "const", path: "node_modules" }, ["node_modules/m/index.js:1"]],
    ["a glob without a slash judges names", { pattern: "const d", include: "*.tsx" }, ["src/a/deep.tsx:1"]],
    [
      "a glob with a slash judges paths",
      { pattern: "const [zt]", include: "src/*.ts" },
      ["src/a.ts:1", "src/b.ts:2", "src/b.ts:4"],
    ],
    ["a glob may have two stars", { pattern: "=", include: "src/**/deep.*" }, ["src/a/deep.tsx:1"]],
    ["a glob may have braces", { pattern: "^const [dz]", include: "*.{ts,tsx}" }, ["src/a/deep.tsx:1", "src/a.ts:1"]],
    ["a glob may have classes", { pattern: "^const [oz]", include: "[!a].ts" }, ["src/b.ts:1"]],
    ["a glob may exclude", { pattern: "^const [dz]", include: "!*.tsx" }, ["-dash:1", "src/a.ts:1"]],
    [
      "the pattern ends where the line does, CRLF or not",
      { pattern: ";$", path: "src/a.ts" },
      ["src/a.ts:1", "src/a.ts:2"],
    ],
    ["flags may stand in front", { pattern: "(?i)CONST ZERO" }, ["src/a.ts:1"]],
    ["a pattern may look ahead", { pattern: "const (?=zero)" }, ["src/a.ts:1"]],
    ["a pattern may start with a dash", { pattern: "-?dash", path: "-dash" }, ["-dash:1"]],
    ["a pattern is not shell text", { pattern: "\\$\\(ls\\)|`ls`|; ls" }, []],
  ];
  test.each(requests)("%s", async (_name, request, expected) => {
    expect(await found(request)).toEqual(expected);
  });

  test("an absolute path gives absolute paths", async () => {
    const root = await makeTree(tree);
    expect(await search("/", { pattern: "zero", path: join(root, "src") })).toMatchObject({
      matches: [{ path: join(root, "src/a.ts"), line: 1 }],
    });
  });

  test("more matches than the limit are cut, the first ones kept", async () => {
    const root = await makeTree({ a: "x\n".repeat(1000), b: "x\n" });
    const answer = await search(root, { pattern: "x", limit: 3 });
    expect(answer).toMatchObject({ cut: true, matches: [{ line: 1 }, { line: 2 }, { path: "a", line: 3 }] });
    expect(await search(root, { pattern: "x", limit: 1001 })).toMatchObject({ cut: false, matches: { length: 1001 } });
    expect(await search(root, { pattern: "x" })).toMatchObject({ cut: true, matches: { length: 200 } });
  });

  test("long lines are cut at 500 characters", async () => {
    const root = await makeTree({ a: `${"é".repeat(400)}\n${"x".repeat(600)}\nend${"x".repeat(2_000_000)}\n` });
    expect(await search(root, { pattern: "é|x" })).toMatchObject({
      matches: [
        { text: "é".repeat(400) },
        { text: `${"x".repeat(500)}… [line cut, 600 bytes in all]` },
        { text: `end${"x".repeat(497)}… [line cut, 2000003 bytes in all]` },
      ],
    });
  });

  const faults: [string, SearchRequest, string, string][] = [
    ["an invalid pattern", { pattern: "fo(" }, "invalid", "Cannot search .: the pattern"],
    ["an invalid glob", { pattern: "x", include: "[" }, "invalid", "include glob"],
    ["a missing path", { pattern: "x", path: "none" }, "missing", "Cannot search none: there is no such file"],
    ["a device", { pattern: "x", path: "/dev/zero" }, "not-a-file", "it is a device"],
    ["a NUL byte in the path", { pattern: "x", path: "a\0" }, "invalid", "NUL byte"],
  ];
  test.each(faults)("%s is an answer", async (_name, request, code, message) => {
    expect(await search(await makeTree(tree), request)).toEqual({
      kind: "fault",
      code,
      message: expect.stringContaining(message),
    });
  });

  test("a FIFO in the tree is skipped", async () => {
    const root = await makeTree({ a: "x\n" });
    expect(spawnSync("mkfifo", [join(root, "pipe")], { env: { PATH: searchPath } }).status).toBe(0);
    expect(await search(root, { pattern: "x" })).toMatchObject({ matches: [{ path: "a" }], cut: false });
  });
});

test("a ripgrep that never ends is ended, and what it found so far is kept", async () => {
  const rg = `#!/bin/sh\nprintf 'a\\0007:1:found\\n'\nexec sleep 1000\n`;
  const tools = await makeTree({ rg: { content: rg, mode: 0o755 } });
  process.env.PATH = `${tools}:${searchPath}`;
  const root = await makeTree({});
  expect(await searchFiles({ root, writable: [] }, { pattern: "x" }, 1500)).toEqual({
    kind: "matches",
    matches: [{ path: "a", line: 7, text: "found" }],
    cut: true,
  });
});

test("a pattern that backtracks for years is cut", async () => {
  process.env.PATH = "/nonexistent";
  const root = await makeTree({ a: "aaa\n", b: `${"a".repeat(60)}!\n` });
  expect(await searchFiles({ root, writable: [] }, { pattern: "^(a+)+$" }, 1000)).toEqual({
    kind: "matches",
    matches: [{ path: "a", line: 1, text: "aaa" }],
    cut: true,
  });
});
