// Files that an agent made so that a walk by paths misses them or fails: measured, backed up and removed all the same, by a
// server that runs as root and as an ordinary user.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleInto } from "../harness/bundled.ts";

const isRoot = process.geteuid?.() === 0;
const unprivilegedId = 65534;
const mebibyte = 1024 ** 2;

interface Findings {
  added: Record<string, number>;
  files: Record<string, number>;
  leftOut: { path: string; reason: string }[];
  unreadable: { dataDirectory: unknown; workspaces: unknown };
  openFiles: number;
  operatorMode: number;
  isRemoved: boolean;
}

let programs = "";
let child = "";
beforeAll(async () => {
  programs = mkdtempSync("/var/tmp/hostile-files-");
  chmodSync(programs, 0o755);
  child = await bundleInto(programs, "runs/hostile-files-child.ts");
});
afterAll(() => rmSync(programs, { recursive: true }));

describe.each(isRoot ? ["root", "an ordinary user"] : ["an ordinary user"])("for a server that runs as %s", (user) => {
  let findings: Findings;
  beforeAll(() => {
    const directory = join(programs, user.replaceAll(" ", "-"));
    mkdirSync(directory);
    const drops = isRoot && user !== "root";
    const [data, operator] = [join(directory, "data"), join(directory, "operator")];
    for (const path of [data, operator]) {
      mkdirSync(path);
      if (drops) chownSync(path, unprivilegedId, unprivilegedId);
    }
    chmodSync(operator, 0);
    const lowered = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
    const limited = ["prlimit", "--nofile=96:96", "--", process.execPath, child, data, operator];
    const [program = "", ...args] = [...(drops ? lowered : []), ...limited];
    findings = JSON.parse(execFileSync(program, args, { cwd: "/", env: { PATH: process.env.PATH }, encoding: "utf8" }));
  });

  test.each([
    "a name that is not UTF-8",
    "a path that is too long for the kernel",
    "more directories than a process can open files",
    "a directory without permissions",
    "a directory that can be listed, but not entered",
    "a directory without permission to write",
    "a file without permissions",
    "a file with a hole",
    "two names of one file",
  ])("%s counts for the disk limit", (name) => {
    expect(findings.added[name]).toBeGreaterThanOrEqual(mebibyte);
  });

  test("a file with two names counts once", () => {
    expect(findings.added["two names of one file"]).toBeLessThan(2 * mebibyte);
  });

  test("a link, also one in the place of a directory, adds no permissions to the directory of the operator", () => {
    expect(findings.operatorMode).toBe(0);
  });

  test("a backup contains what a restore can create, and names all else", () => {
    const deep = `${"b/".repeat(300)}file`;
    const stored = [deep, "first", "hole", "listed/file", "locked/file", "read-only/file", "second", "unreadable"];
    expect(findings.files).toEqual(Object.fromEntries(stored.map((path) => [path, mebibyte])));
    const long = /^workspaces\/agent\/(?:a{200}\/)+a{200}$/;
    expect(findings.leftOut).toEqual([
      { path: expect.stringMatching(long), reason: "its path is longer than 3072 bytes" },
      { path: "workspaces/agent/\ufffd\ufffd", reason: "its name is not UTF-8" },
    ]);
  });

  test("a backup of directories that cannot be read is refused, or names them, and is never just empty", () => {
    const { dataDirectory, workspaces } = findings.unreadable;
    expect(dataDirectory).toMatch(
      /^BackupError: The data directory .* could not be read\. Run the command as the user/,
    );
    expect(workspaces).toEqual({ files: {}, leftOut: [{ path: "workspaces", reason: "it could not be read" }] });
  });

  test("deletion of the agent removes everything, and no file stays open", () => {
    expect(findings.isRemoved).toBe(true);
    expect(findings.openFiles).toBeLessThan(40);
  });
});
