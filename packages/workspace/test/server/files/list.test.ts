// Listing directories: order, depth, kinds and limits.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listDirectory } from "../../../src/server/files/index.ts";
import { makeTree } from "../../support/file-tree.ts";

const tree = {
  "b.txt": "12345",
  "a/z": "",
  "a/m/deep/er": "1",
  "a-file": "1",
  ".hidden": "",
  link: { link: "b.txt" },
  "link-to-directory": { link: "a" },
  "to-above": { link: ".." },
  "empty/": "",
};
const list = (root: string, request: { path: string; depth?: number; limit?: number }) =>
  listDirectory({ root, writable: [] }, request);
const paths = async (root: string, request: { path: string; depth?: number; limit?: number }) => {
  const answer = await list(root, request);
  return answer.kind === "entries" ? answer.entries.map((entry) => entry.path) : answer;
};

test("entries are sorted by name and carry kind and size", async () => {
  const root = await makeTree(tree);
  expect(spawnSync("mkfifo", [join(root, "pipe")]).status).toBe(0);
  expect(await list(root, { path: "." })).toEqual({
    kind: "entries",
    entries: [
      { path: ".hidden", kind: "file", size: 0 },
      { path: "a", kind: "directory", size: null },
      { path: "a-file", kind: "file", size: 1 },
      { path: "b.txt", kind: "file", size: 5 },
      { path: "empty", kind: "directory", size: null },
      { path: "link", kind: "symlink", size: null },
      { path: "link-to-directory", kind: "symlink", size: null },
      { path: "pipe", kind: "other", size: null },
      { path: "to-above", kind: "symlink", size: null },
    ],
    cut: false,
  });
});

test("a directory stands right before what is in it, and symlinked ones are not entered", async () => {
  const root = await makeTree(tree);
  expect(await paths(root, { path: ".", depth: 10 })).toEqual([
    ".hidden",
    "a",
    "a/m",
    "a/m/deep",
    "a/m/deep/er",
    "a/z",
    "a-file",
    "b.txt",
    "empty",
    "link",
    "link-to-directory",
    "to-above",
  ]);
});

test("the depth counts levels below the directory", async () => {
  const root = await makeTree(tree);
  expect(await paths(root, { path: "a", depth: 2 })).toEqual(["m", "m/deep", "z"]);
});

test("a symlink to a directory can be listed itself", async () => {
  const root = await makeTree(tree);
  expect(await paths(root, { path: "link-to-directory" })).toEqual(["m", "z"]);
});

test("the limit cuts the list and says so", async () => {
  const root = await makeTree(tree);
  expect(await list(root, { path: ".", depth: 9, limit: 3 })).toMatchObject({ cut: true, entries: { length: 3 } });
  expect(await list(root, { path: "a", limit: 2 })).toMatchObject({ cut: false, entries: { length: 2 } });
});

describe("what cannot be listed is an answer", () => {
  const cases: [string, string, string][] = [
    ["b.txt", "not-a-directory", "Cannot list b.txt: it is not a directory. Specify a directory."],
    ["none", "missing", "Cannot list none: there is no such file or directory."],
    ["a\0", "invalid", "NUL byte"],
  ];
  test.each(cases)("%j", async (path, code, message) => {
    const root = await makeTree(tree);
    expect(await list(root, { path })).toEqual({ kind: "fault", code, message: expect.stringContaining(message) });
  });
});
