// Where a patch may write, and what of a file outlives a patch besides its text.
import { spawnSync } from "node:child_process";
import { chmod, chown, lstat, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Edit, EditResult } from "@agentcli/protocol";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../../src/server/edit/index.ts";
import { makeTree, readTree, snapshot } from "../../support/file-tree.ts";

const add = (path: string, content = "new\n"): Edit => ({ kind: "add", path, content });
const replace = (path: string, before: string, after: string): Edit => ({
  kind: "update",
  path,
  chunks: [{ anchors: [], before: [before], after: [after], endOfFile: false }],
});
const edited = (...files: Extract<EditResult, { kind: "edited" }>["files"]) => ({ kind: "edited", files });

test("every edit is refused in a read-only workspace", async () => {
  const root = await makeTree({ a: "1\n" });
  for (const edit of [add("b"), { kind: "delete" as const, path: "a" }, replace("a", "1", "2")]) {
    const answer = await applyEdits({ root, writable: [] }, { edits: [edit] });
    expect(answer).toEqual({ kind: "refused", message: "writing is blocked by the read-only sandbox" });
  }
  expect(await readTree(root)).toEqual({ a: "1\n" });
});

describe("an absolute path", () => {
  test("is written where anything may be written", async () => {
    const [root, other] = [await makeTree({}), await makeTree({})];
    const path = join(other, "d/x");
    expect(await applyEdits({ root, writable: "anywhere" }, { edits: [add(path)] })).toEqual(
      edited({ path, kind: "add" }),
    );
    expect(await readTree(other)).toEqual({ "d/x": "new\n" });
  });

  test("that a person approved is refused where a link leads elsewhere, and written where none does", async () => {
    const [root, other] = [await makeTree({}), await makeTree({ ".bashrc": "old\n", "d/y": "old\n" })];
    await symlink(join(other, ".bashrc"), join(root, "notes.txt"));
    await symlink(join(other, "d"), join(root, "d"));
    const scope = { root, writable: "anywhere" as const };
    const [file, below] = [join(root, "notes.txt"), join(root, "d/y")];
    for (const edit of [replace(file, "old", "new"), replace(below, "old", "new"), add(join(root, "d/z"))])
      expect(await applyEdits(scope, { edits: [edit], asWritten: true })).toMatchObject({
        ...{ kind: "refused", message: expect.stringContaining(`leads to ${other}`) },
      });
    expect(await readTree(other)).toEqual({ ".bashrc": "old\n", "d/y": "old\n" });
    const direct = replace(join(other, ".bashrc"), "old", "new");
    expect(await applyEdits(scope, { edits: [direct], asWritten: true })).toMatchObject({ kind: "edited" });
  });

  test("is written inside a writable root, also when that root is named through a symlink", async () => {
    const [root, other] = [await makeTree({}), await makeTree({})];
    await symlink(other, join(root, "alias"));
    const workspace = { root, writable: [join(root, "alias")] };
    expect(await applyEdits(workspace, { edits: [add(join(other, "x")), add("alias/y")] })).toMatchObject({
      kind: "edited",
    });
    expect(await readTree(other)).toEqual({ x: "new\n", y: "new\n" });
  });

  test("is refused outside the writable roots, naming them", async () => {
    const [root, other] = [await makeTree({}), await makeTree({})];
    const answer = await applyEdits({ root, writable: [root] }, { edits: [add(join(other, "x"))] });
    expect(answer).toMatchObject({ kind: "refused", message: expect.stringContaining(`(${root})`) });
    expect(await readTree(other)).toEqual({});
  });

  test("is refused in a directory whose name only starts like a writable root", async () => {
    const root = await makeTree({ "in/": "", "inside/": "" });
    const answer = await applyEdits({ root, writable: [join(root, "in")] }, { edits: [add(join(root, "inside/x"))] });
    expect(answer).toMatchObject({ kind: "refused" });
  });
});

test("a relative path is refused when the root itself is not writable", async () => {
  const [root, other] = [await makeTree({}), await makeTree({})];
  expect(await applyEdits({ root, writable: [other] }, { edits: [add("x")] })).toMatchObject({ kind: "refused" });
});

test.each(["", " ", "a\0b", ".", "..", "/"])("the path %j is refused with a sentence", async (path) => {
  const root = await makeTree({ a: "1\n" });
  const asItWas = await snapshot(root);
  for (const edit of [add(path), { kind: "delete" as const, path }, replace(path, "1", "2")]) {
    const answer = await applyEdits({ root, writable: "anywhere" }, { edits: [edit] });
    expect(answer).toEqual({ kind: "refused", message: expect.stringMatching(/\w+ \w+/) });
  }
  expect(await snapshot(root)).toEqual(asItWas);
});

test("the answer names files as the request did, without detours, and each change once", async () => {
  const root = await makeTree({ a: "1\n", b: "1\n", c: "1\n" });
  const moved: Edit = { kind: "update", path: "./c", moveTo: "d//e", chunks: [] };
  const line1 = { from: 1, to: 1, removed: 1 };
  const edits = [replace("./a", "1", "2"), replace("x/../a", "2", "3"), { kind: "delete" as const, path: "b" }, moved];
  expect(await applyEdits({ root, writable: [root] }, { edits })).toEqual(
    edited(
      { path: "a", kind: "update", lines: [line1, line1] },
      { path: "b", kind: "delete" },
      { path: "c", kind: "update", movedTo: "d/e" },
    ),
  );
});

test("no edits change nothing", async () => {
  const root = await makeTree({ a: "1\n" });
  expect(await applyEdits({ root, writable: [root] }, { edits: [] })).toEqual(edited());
});

test("mode and owner stay with an updated and a moved file", async () => {
  const root = await makeTree({
    run: { content: "1\n", mode: 0o755 },
    moved: { content: "1\n", mode: 0o500 },
  });
  const owner = process.getuid?.() === 0 ? 12345 : (process.getuid?.() ?? 0);
  await chown(join(root, "run"), owner, owner);
  const edits = [replace("run", "1", "2"), { ...replace("moved", "1", "2"), moveTo: "d/new" }] as Edit[];
  expect(await applyEdits({ root, writable: [root] }, { edits })).toMatchObject({ kind: "edited" });
  expect(await stat(join(root, "run"))).toMatchObject({ mode: 0o100755, uid: owner, gid: owner });
  expect((await stat(join(root, "d/new"))).mode).toBe(0o100500);
});

test("a FIFO is neither updated nor overwritten, and the edit does not block on it", async () => {
  const root = await makeTree({});
  expect(spawnSync("mkfifo", [join(root, "pipe")]).status).toBe(0);
  const workspace = { root, writable: [root] };
  expect(await applyEdits(workspace, { edits: [replace("pipe", "1", "2")] })).toMatchObject({
    message: expect.stringContaining("it is a FIFO"),
  });
  expect(await applyEdits(workspace, { edits: [add("pipe")] })).toMatchObject({ kind: "refused" });
  expect((await lstat(join(root, "pipe"))).isFIFO()).toBe(true);
});

test("patches sent at the same time all take effect", async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const root = await makeTree({ a: `${lines.join("\n")}\n` });
  const answers = await Promise.all(
    lines.map((line) => applyEdits({ root, writable: [root] }, { edits: [replace("a", line, `${line}!`)] })),
  );
  expect(answers.every((answer) => answer.kind === "edited")).toBe(true);
  expect(await readTree(root)).toEqual({ a: `${lines.map((line) => `${line}!`).join("\n")}\n` });
});

test("a large file is patched whole", async () => {
  const lines = Array.from({ length: 300_000 }, (_, index) => `line ${index}`);
  const root = await makeTree({ a: `${lines.join("\n")}\n` });
  await chmod(join(root, "a"), 0o640);
  expect(await applyEdits({ root, writable: [root] }, { edits: [replace("a", "line 299999", "end")] })).toMatchObject({
    kind: "edited",
  });
  expect(await readTree(root)).toEqual({ a: `${lines.slice(0, -1).join("\n")}\nend\n` });
});
