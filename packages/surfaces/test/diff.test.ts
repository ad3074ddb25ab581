// Diffs of edits, as programs read them.
import { execFileSync } from "node:child_process";
import { proposedEdits } from "@agentcli/engine";
import type { PatchEdit } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { turnDiff, unifiedDiffOf } from "../src/diff.ts";

const editsOf = (patch: string): PatchEdit[] =>
  proposedEdits("apply_patch", { input: `*** Begin Patch\n${patch}\n*** End Patch` });

test("git reads the diff of a turn", () => {
  const edits = editsOf(
    "*** Update File: a.txt\n@@\n one\n-two\n@@ def f\n three\n+added\n+too\n@@\n-four\n*** Add File: b.txt\n+b",
  );
  const counts = execFileSync("git", ["apply", "--numstat", "-"], { input: turnDiff(edits), encoding: "utf8" });
  expect(counts).toBe("2\t2\ta.txt\n1\t0\tb.txt\n");
});

test("hunks have the line that the patch names, else they are counted within it", () => {
  const [counted] = editsOf("*** Update File: a.txt\n@@ def f\n one\n+two\n@@\n-three");
  expect(unifiedDiffOf(counted as PatchEdit)).toBe("@@ -1,1 +1,2 @@ def f\n one\n+two\n@@ -2,1 +2,0 @@\n-three\n");
  const [named] = editsOf("*** Update File: a.txt\n@@ -7,1 +7,2 @@\n one\n+two\n@@ -20,0 +22,1 @@\n+three");
  expect(unifiedDiffOf(named as PatchEdit)).toBe("@@ -7,1 +7,2 @@\n one\n+two\n@@ -20,0 +22,1 @@\n+three\n");
});
