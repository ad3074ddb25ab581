// The answers of the tools that read, list, search and find.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openServer } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { builtInTools, type Tool, type ToolContext } from "../src/index.ts";

const lines = (count: number, text = "line") =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}\n`).join("");

async function openFiles(files: Record<string, string>, outputTokens = 10_000) {
  const root = mkdtempSync(join(tmpdir(), "file-tools-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  const workspace = await openServer({ root, writable: "anywhere", env, orphans: "ended-by-watchdog" });
  onTestFinished(async () => {
    await workspace.close();
    rmSync(root, { recursive: true });
  });
  return async (name: string, args: object): Promise<string> => {
    const tool = builtInTools.find((each) => each.name === name) as Tool;
    const { parts } = await tool.run(args, { workspace, outputTokens } as unknown as ToolContext);
    return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  };
}

test("read_file ends at a line and names the next offset, until the file is read", async () => {
  const call = await openFiles({ "a.txt": lines(500) }, 300);
  const seen: string[] = [];
  for (let offset = 1; offset > 0; ) {
    const answer = await call("read_file", { path: "a.txt", offset });
    expect(answer).not.toContain("truncated");
    seen.push(...[...answer.matchAll(/^(\d+): line (\d+)$/gm)].map(([, number, text]) => `${number} ${text}`));
    offset = Number(/\[\d+ more lines; read on with offset (\d+)\]$/.exec(answer)?.[1] ?? 0);
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, index) => `${index + 1} ${index + 1}`));
});

test("read_file counts one line as one", async () => {
  const call = await openFiles({ "a.txt": "one\ntwo\n", "b.txt": "one\n" });
  expect(await call("read_file", { path: "a.txt", limit: 1 })).toMatch(/\[1 more line; read on with offset 2\]$/);
  expect(await call("read_file", { path: "b.txt", offset: 5 })).toBe("[the file has 1 line, none in that range]");
});

test("read_file reads several files and ranges, and each gets a share", async () => {
  const call = await openFiles({ "a.txt": lines(500, "a"), "b.txt": "one\n" }, 400);
  const files = [{ path: "a.txt" }, { path: "b.txt" }, { path: "a.txt", offset: 499 }, { path: "none" }];
  const answer = await call("read_file", { files });
  expect(answer).toMatch(/^==> a\.txt <==\n1: a 1\n/);
  expect(answer).toMatch(/\[\d+ more lines; read on with offset \d+\]\n\n==> b\.txt <==\n1: one\n\n/);
  expect(answer).toContain("==> a.txt <==\n499: a 499\n500: a 500\n\n==> none <==\nCannot read none: there is no such");
});

test("grep_files shows context, files and long lines", async () => {
  const call = await openFiles({ "a.ts": "1\nneedle\n3\n4\n5\nneedle\n", "b.py": `${"x".repeat(2_000)}needle\n` });
  expect(await call("grep_files", { pattern: "needle", type: "ts", context: 1 })).toBe(
    "a.ts-1- 1\na.ts:2: needle\na.ts-3- 3\n--\na.ts-5- 5\na.ts:6: needle",
  );
  expect(await call("grep_files", { pattern: "needle", files_only: true })).toBe("a.ts\nb.py");
  expect(await call("grep_files", { pattern: "needle", include: "*.py" })).toContain("xneedle");
});

test("list_dir says what it leaves out, and glob finds files", async () => {
  const call = await openFiles({
    ".git/HEAD": "",
    ".gitignore": "dist\n",
    "dist/a.js": "",
    "src/a.ts": "",
    "src/b.ts": "",
    "src/c/d.ts": "",
    "z.ts": "",
  });
  expect(await call("list_dir", { path: ".", depth: 2, limit: 5 })).toBe(
    ".gitignore\nsrc/\nsrc/a.ts\nsrc/b.ts\nz.ts\n[more entries left out: 1 of src/; list a subdirectory or raise limit]\n[not shown because git ignores it: dist/]",
  );
  expect(await call("glob", { pattern: "*.ts" })).toBe("src/a.ts\nsrc/b.ts\nsrc/c/d.ts\nz.ts");
  expect(await call("glob", { pattern: "**/*.ts", path: "src", limit: 2 })).toBe(
    "src/a.ts\nsrc/b.ts\n[more files left out; narrow the pattern or raise limit]",
  );
  expect(await call("glob", { pattern: "*.rs" })).toBe("[no files]");
});
