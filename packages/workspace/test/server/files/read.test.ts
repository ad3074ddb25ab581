// Reading files: lines, bytes, limits and the errors for everything else.
import { spawnSync } from "node:child_process";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import type { ReadRequest } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFiles } from "../../../src/server/files/index.ts";
import { makeTree } from "../../support/file-tree.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

async function readOne(root: string, file: ReadRequest["files"][number]) {
  const { files } = await readFiles({ root, writable: [] }, { files: [file] });
  return files[0];
}
const readLines = async (content: string | Buffer, range: { offset?: number; limit?: number } = {}) =>
  readOne(await makeTree({ a: content }), { path: "a", as: "lines", ...range });

describe("lines", () => {
  const tenLines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
  const cases: [string, string | Buffer, { offset?: number; limit?: number }, object][] = [
    ["are the whole file when it is short", "a\nb\n", {}, { lines: ["a", "b"], firstLine: 1, totalLines: 2 }],
    ["need no newline at the end", "a\nb", {}, { lines: ["a", "b"], totalLines: 2 }],
    ["may be blank", "\n\na\n\n", {}, { lines: ["", "", "a", ""], totalLines: 4 }],
    ["are none in an empty file", "", {}, { lines: [], firstLine: 1, totalLines: 0 }],
    ["come without CRLF", "a\r\nb\rc\r\n", {}, { lines: ["a", "b\rc"] }],
    ["start at the offset", tenLines, { offset: 9 }, { lines: ["line 9", "line 10"], firstLine: 9, totalLines: 10 }],
    ["stop at the limit", tenLines, { offset: 2, limit: 2 }, { lines: ["line 2", "line 3"], totalLines: 10 }],
    ["are none behind the end", tenLines, { offset: 11 }, { lines: [], firstLine: 11, totalLines: 10 }],
    ["are two thousand unless asked otherwise", "x\n".repeat(2500), {}, { totalLines: 2500 }],
    ["replace what is not UTF-8", Buffer.from([0x63, 0xe9, 0x0a]), {}, { lines: ["c\ufffd"] }],
  ];
  test.each(cases)("%s", async (_name, content, range, expected) => {
    const answer = await readLines(content, range);
    expect(answer).toMatchObject({ kind: "lines", cut: false, ...expected });
    if (answer?.kind === "lines") expect(answer.lines.length).toBeLessThanOrEqual(2000);
  });

  test("longer than two thousand characters are cut with a marker", async () => {
    const answer = await readLines(`${"x".repeat(5000)}\nshort\nx${"😀".repeat(1000)}\n${"y".repeat(300_000)}\n`);
    expect(answer).toMatchObject({
      lines: [
        `${"x".repeat(2000)}… [line cut, 5000 bytes in all]`,
        "short",
        `x${"😀".repeat(999)}… [line cut, 4001 bytes in all]`,
        `${"y".repeat(2000)}… [line cut, 300000 bytes in all]`,
      ],
      totalLines: 4,
    });
  });

  test("stop at 256 KiB in total and report it", async () => {
    const answer = await readLines(`${"x".repeat(999)}\n`.repeat(1000));
    expect(answer).toMatchObject({ kind: "lines", totalLines: 1000, cut: true });
    if (answer?.kind === "lines") expect(answer.lines.length).toBe(262);
  });

  test("can be read part by part into the whole", async () => {
    const file = fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 7 }), async (lines, limit) => {
        const root = await makeTree({ a: lines.map((line) => `${line}\n`).join("") });
        const parts: string[] = [];
        for (let offset = 1; offset <= lines.length; offset += limit) {
          const answer = await readOne(root, { path: "a", as: "lines", offset, limit });
          if (answer?.kind === "lines") parts.push(...answer.lines);
        }
        expect(parts).toEqual(lines);
      }),
      { numRuns: Math.ceil(numRuns / 10) },
    );
  });
});

describe("bytes", () => {
  test("are the whole file, whatever its content", async () => {
    const content = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const answer = await readOne(await makeTree({ a: content }), { path: "a", as: "bytes" });
    expect(answer).toEqual({ kind: "bytes", base64: content.toString("base64"), size: 70_000 });
  });

  test("beyond 20 MiB are refused with both sizes", async () => {
    const root = await makeTree({ a: "" });
    await truncate(join(root, "a"), 20 * 1024 * 1024 + 1);
    expect(await readOne(root, { path: "a", as: "bytes" })).toEqual({
      kind: "fault",
      code: "too-large",
      message: expect.stringContaining("a: it has 20971521 bytes, the limit is 20971520"),
    });
  });
});

describe("a file that cannot be read is an answer", () => {
  const tree = {
    binary: Buffer.from("GIF\0x"),
    "d/a": "",
    loop: { link: "loop" },
    gone: { link: "nowhere" },
  };
  const cases: [string, string, string, string][] = [
    ["a binary file", "binary", "binary", "Cannot read binary: it is a binary file. Look at it with a command"],
    ["a directory", "d", "not-a-file", "Cannot read d: it is a directory. Specify a regular file."],
    ["a missing file", "d/b", "missing", "Cannot read d/b: there is no such file or directory. List the directory"],
    ["a file in a file", "d/a/b", "not-a-directory", "Cannot read d/a/b: a part of the path is not a directory."],
    ["a symlink to itself", "loop", "invalid", "Cannot read loop: its symbolic links form a loop."],
    ["a symlink to nothing", "gone", "missing", "Cannot read gone: there is no such file or directory."],
    ["a NUL byte in the path", "a\0b", "invalid", "the path contains a NUL byte"],
    ["a name that is too long", "x".repeat(300), "invalid", "the name is too long"],
    ["a device that never ends", "/dev/zero", "not-a-file", "Cannot read /dev/zero: it is a device"],
  ];
  test.each(cases)("%s", async (_name, path, code, message) => {
    const root = await makeTree(tree);
    expect(await readOne(root, { path, as: "lines" })).toEqual({
      kind: "fault",
      code,
      message: expect.stringContaining(message),
    });
  });

  test("a FIFO without a writer", async () => {
    const root = await makeTree({});
    expect(spawnSync("mkfifo", [join(root, "pipe")]).status).toBe(0);
    for (const as of ["lines", "bytes"] as const) {
      expect(await readOne(root, { path: "pipe", as })).toMatchObject({
        code: "not-a-file",
        message: expect.stringContaining("it is a FIFO, not a regular file"),
      });
    }
  });

  test("a text file too large to count its lines", async () => {
    const root = await makeTree({ a: "" });
    await truncate(join(root, "a"), 256 * 1024 * 1024 + 1);
    expect(await readOne(root, { path: "a", as: "lines" })).toMatchObject({
      code: "too-large",
      message: expect.stringContaining("sed -n"),
    });
  });
});

test("a kernel file without a size is read", async () => {
  const root = await makeTree({});
  expect(await readOne(root, { path: "/proc/self/status", as: "lines", limit: 1 })).toMatchObject({
    lines: [expect.stringMatching(/^Name:/)],
    cut: false,
  });
});

test("a kernel file that never ends is read up to the limit", async () => {
  const root = await makeTree({});
  expect(await readOne(root, { path: "/proc/self/pagemap", as: "lines" })).toMatchObject({ code: "binary" });
  expect(await readOne(root, { path: "/proc/self/pagemap", as: "bytes" })).toMatchObject({ code: "too-large" });
});

test("files are answered one by one in the requested order", async () => {
  const root = await makeTree({ a: "A\n", b: "B\n" });
  const files = ["b", "none", "a"].map((path) => ({ path, as: "lines" as const }));
  expect((await readFiles({ root, writable: [] }, { files })).files).toMatchObject([
    { lines: ["B"] },
    { code: "missing" },
    { lines: ["A"] },
  ]);
});
