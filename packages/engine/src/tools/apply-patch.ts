// Applies a patch to files, completely or not at all.
import type { PatchEdit } from "@agentcli/protocol";
import { patchGrammar } from "../patch/grammar.ts";
import { parsePatch } from "../patch/parse.ts";
import { functionSpec, parseArguments } from "./offer.ts";
import { failed, type Tool } from "./tool.ts";

const description = "Edit files with a patch. All changes are made, or none if any part does not fit.";

const functionHelp = `${description} Format:
*** Begin Patch
*** Add File: path (then every line with +)
*** Delete File: path
*** Update File: path (optional next line: *** Move to: new path)
@@ optional line to find first
 context line
-removed line
+added line
*** End Patch
Paths are relative to the workspace. Give about three lines of context around a change.
As a lark grammar:
${patchGrammar}`;

export const applyPatch: Tool = {
  name: "apply_patch",
  onResume: "once",
  parallel: false,
  spec: ({ freeform }) =>
    freeform
      ? {
          form: "freeform",
          name: "apply_patch",
          description: `${description} This is a freeform tool: write the patch itself, not JSON.`,
          grammar: { syntax: "lark", definition: patchGrammar },
        }
      : functionSpec("apply_patch", functionHelp),
  parse: (input, form) =>
    form === "freeform" ? { kind: "arguments", args: { input } } : parseArguments("apply_patch", input),
  async run(args, context) {
    const { input, workdir } = args as { input: string; workdir?: string };
    const patch = parsePatch(input);
    if (patch.kind === "invalid") return failed(patch.message);
    const { editReport } = await import("./edit-report.ts");
    const startedAt = performance.now();
    const result = await context.workspace.edit({ edits: patch.edits.map((edit) => within(workdir, edit)) });
    return editReport(result, performance.now() - startedAt);
  },
};

/** Paths of a patch given to a shell are relative to its working directory. */
function within(workdir: string | undefined, edit: PatchEdit): PatchEdit {
  if (!workdir) return edit;
  const resolve = (path: string) => (path.startsWith("/") ? path : `${workdir}/${path}`);
  const moved = edit.kind === "update" && edit.moveTo ? { moveTo: resolve(edit.moveTo) } : {};
  return { ...edit, path: resolve(edit.path), ...moved };
}
