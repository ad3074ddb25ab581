// Scenarios of patches as a model writes them: files before, the patch, files after.
import type { EditResult } from "@agentcli/protocol";
import { expect, test } from "vitest";
import { parsePatch } from "../../../../engine/src/patch/parse.ts";
import { applyEdits } from "../../../src/server/edit/index.ts";
import { makeTree, readTree, type Tree } from "../../support/file-tree.ts";

export interface PatchScenario {
  name: string;
  before: Tree;
  /** Without the lines that begin and end every patch. */
  patch: string[];
}

export async function applyPatch(root: string, patch: string[], writable: "anywhere" | string[]): Promise<EditResult> {
  const parsed = parsePatch(["*** Begin Patch", ...patch, "*** End Patch"].join("\n"));
  if (parsed.kind === "invalid") throw new Error(parsed.message);
  return applyEdits({ root, writable }, { edits: parsed.edits });
}

export function testApplied(scenarios: (PatchScenario & { after: Record<string, string> })[]): void {
  test.each(scenarios)("$name", async ({ before, patch, after }) => {
    const root = await makeTree(before);
    expect(await applyPatch(root, patch, [root])).toMatchObject({ kind: "edited" });
    expect(await readTree(root)).toEqual(after);
  });
}
