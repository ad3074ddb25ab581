// A directory for each test, with repositories in it and a watch over them.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { findNestedRepositories } from "../../../src/sandbox/repositories/nested.ts";
import { watchRepositories } from "../../../src/sandbox/repositories/watch.ts";
import { temporaryDirectory } from "../../support/locations.ts";

export let root = "";

/** For the top of a test file. */
export function eachTestHasARoot(): void {
  beforeEach(() => {
    root = temporaryDirectory();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
}

export function init(...names: string[]): void {
  for (const name of names) execFileSync("git", ["init", "-q", join(root, name)]);
}

/** Git would run a program there. */
export function arm(name: string): void {
  execFileSync("git", ["-C", join(root, name), "config", "core.fsmonitor", "./evil"]);
}

export const openWatch = async (newRepositories: "set-aside" | "kept" = "set-aside") =>
  watchRepositories({
    roots: [root],
    nested: await findNestedRepositories([root]),
    rootRepositories: "protected",
    newRepositories,
  });
