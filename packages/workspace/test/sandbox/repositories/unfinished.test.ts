// What is reported of a run that was killed before its own report.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openUnfinished, searchUnfinished } from "../../../src/sandbox/repositories/unfinished.ts";
import { temporaryDirectory } from "../../support/locations.ts";
import { arm, eachTestHasARoot, init, openWatch, root } from "./watched-root.ts";

eachTestHasARoot();

describe("a watch", () => {
  /** As of a process that exists no more. */
  async function killedRun(): Promise<{ notes: string; note: string }> {
    const notes = join(temporaryDirectory(), "notes");
    openUnfinished(notes, (await openWatch()).describe).begin();
    const note = join(notes, String(readdirSync(notes)[0]));
    return { notes, note };
  }
  const bury = (note: string) =>
    writeFileSync(note, readFileSync(note, "utf8").replace(`"pid":${process.pid}`, '"pid":4194305'));

  test("leaves a run alone that is still going on", async () => {
    const { notes, note } = await killedRun();
    init("armed");
    arm("armed");
    expect(await searchUnfinished(notes)).toEqual([]);
    expect([existsSync(join(root, "armed/.git")), existsSync(note)]).toEqual([true, true]);
  });

  test("does not take for the work of a killed run what a user created or used after it", async () => {
    init("before");
    const { notes, note } = await killedRun();
    bury(note);
    utimesSync(note, 1, 1);
    init("later");
    arm("later");
    execFileSync("git", [
      "-C",
      join(root, "before"),
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "-qm",
      "x",
      "--allow-empty",
    ]);
    expect(await searchUnfinished(notes)).toEqual([]);
    expect([existsSync(join(root, "later/.git")), existsSync(notes)]).toEqual([true, false]);
  });

  test("finds what a killed run changed in a repository that existed before it", async () => {
    init("before");
    const { notes, note } = await killedRun();
    bury(note);
    arm("before");
    init("armed");
    arm("armed");
    expect(await searchUnfinished(notes)).toEqual([
      expect.stringContaining("A run that was killed changed the git repository in before. Check its .git"),
      expect.stringContaining("A run that was killed created the git repository in armed. Its .git was renamed"),
    ]);
    expect(existsSync(join(root, "before/.git"))).toBe(true);
  });
});
