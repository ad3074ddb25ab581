// Copies of a project for its test cases, where the index was not written by git: nothing outside is read, written or run.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { openScratch } from "../src/cases/scratch.ts";

const emptyFile = Buffer.from("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "hex");

function indexEntry(path: string): Buffer {
  const head = Buffer.alloc(40);
  head.writeUInt32BE(0o100644, 24);
  const entry = Buffer.concat([head, emptyFile, Buffer.from([0, path.length]), Buffer.from(path)]);
  return Buffer.concat([entry, Buffer.alloc(8 - (entry.length % 8))]);
}

/** Names in the order of their bytes, whatever they are. */
function writeIndex(project: string, paths: string[]): void {
  const head = Buffer.from("DIRC\0\0\0\u0002\0\0\0\0");
  head.writeUInt32BE(paths.length, 8);
  const content = Buffer.concat([head, ...paths.toSorted().map(indexEntry)]);
  writeFileSync(join(project, ".git/index"), Buffer.concat([content, createHash("sha1").update(content).digest()]));
}

test("an index that names files above the project, behind a link or in .git leaves the machine as it is", async () => {
  const { path: outer, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const project = join(outer, "a/b/c/project");
  mkdirSync(project, { recursive: true });
  execFileSync("git", ["init", "--quiet", project]);
  const ran = join(outer, "ran");
  execFileSync("git", ["-C", project, "config", "filter.planted.clean", `touch ${ran}; cat`]);
  writeFileSync(join(project, ".gitattributes"), "* filter=planted\n");
  writeFileSync(join(project, "kept.txt"), "kept");
  mkdirSync(join(outer, "secrets"));
  writeFileSync(join(outer, "secrets/key"), "secret");
  symlinkSync(join(outer, "secrets"), join(project, "link"));
  // The copy is as deep in the directory of temporary files as this name leads up from it.
  const above = `../../${basename(outer)}/above`;
  mkdirSync(dirname(join(project, above)), { recursive: true });
  writeFileSync(join(project, above), "written");
  writeIndex(project, [".gitattributes", ".git/config", "kept.txt", "link/key", above]);

  const programs = openHostPrograms({ path: process.env.PATH, home: outer, untrusted: [project] });
  const environment = { variables: process.env, userHome: outer, agentHome: outer, cwd: project, programs };
  const scratch = await openScratch(project, { ...environment, systemDirectory: "/nonexistent" });
  onTestFinished(scratch.remove);
  const copy = scratch.copy(new Map());
  expect(copy.readFile("kept.txt")).toBe("kept");
  // The sandbox decides what is behind it.
  expect(lstatSync(join(copy.root, "link")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(copy.root, ".git/config"), "utf8")).not.toContain("planted");
  expect([existsSync(ran), existsSync(join(outer, "above"))]).toEqual([false, false]);
});
