// The table of real patches, through the tool, inside each sandbox.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyPatch } from "../../../../engine/src/tools/apply-patch.ts";
import type { ToolContext } from "../../../../engine/src/tools/tool.ts";
import type { OpenedWorkspace } from "../../../src/lifecycle/lazy.ts";
import { fillTree, readTree } from "../../support/file-tree.ts";
import { sandboxes, temporaryDirectory } from "../../support/locations.ts";
import { realPatches } from "./real-patches.ts";

describe.each(sandboxes)("inside %s", (_name, open) => {
  let root: string;
  let workspace: OpenedWorkspace;
  beforeAll(async () => {
    root = temporaryDirectory();
    workspace = await open({ mode: "workspace-write", root });
  });
  afterAll(async () => {
    await workspace.close();
    rmSync(root, { recursive: true });
  });

  test.each(realPatches.map((row, index) => ({ ...row, index })))("$name", async (row) => {
    const workdir = `case-${row.index}`;
    mkdirSync(join(root, workdir));
    await fillTree(join(root, workdir), row.files);
    const context = { workspace } as unknown as ToolContext;
    const outcome = await applyPatch.run({ input: row.patch, workdir }, context);
    const answer = outcome.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const shown = answer.replaceAll(`${workdir}/`, "");
    for (const text of row.answers) expect(shown).toContain(text);
    for (const text of row.omits ?? []) expect(shown).not.toContain(text);
    expect(await readTree(join(root, workdir))).toEqual(row.after ?? row.files);
    expect(outcome.status).toBe(row.after ? "completed" : "failed");
  });
});
