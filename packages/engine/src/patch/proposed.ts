// The edits that a call of an editing tool proposes, whichever tool it is: for guards, hooks and surfaces.
import type { Edit, EditChunk, PatchEdit, ToolArguments } from "@agentcli/protocol";
import { parsePatch } from "./parse.ts";

const editTools = ["apply_patch", "edit_file", "edit_notebook"];

export const isEditTool = (name: string): boolean => editTools.includes(name);

/** As edits of a patch; none for arguments that cannot be read. */
export function proposedEdits(name: string, args: unknown): PatchEdit[] {
  const fields = typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const path = text(fields.path);
  switch (name) {
    case "apply_patch": {
      const patch = parsePatch(text(fields.input));
      return patch.kind === "patch" ? patch.edits : [];
    }
    case "edit_file": {
      const [before, after] = [text(fields.old_string), text(fields.new_string)];
      if (path === "") return [];
      return before === "" ? [{ kind: "add", path, content: after }] : [update(path, before, after)];
    }
    case "edit_notebook":
      return path === "" ? [] : [update(path, "", text(fields.source))];
    default:
      return [];
  }
}

const update = (path: string, before: string, after: string): PatchEdit => ({
  kind: "update",
  path,
  chunks: [chunkOf(before, after)],
});

const chunkOf = (before: string, after: string): EditChunk => ({
  anchors: [],
  before: linesOf(before),
  after: linesOf(after),
  endOfFile: false,
});

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

export function stringEdit(args: ToolArguments["edit_file"]): Edit {
  const { path, old_string, new_string, replace_all = false, expected_count } = args;
  if (old_string === "") return { kind: "add", path, content: new_string };
  const count = expected_count === undefined ? {} : { count: Math.max(1, Math.floor(expected_count)) };
  return { kind: "replace", path, old: old_string, new: new_string, all: replace_all, ...count };
}

export function cellEdit({ path, action, cell, source, cell_type }: ToolArguments["edit_notebook"]): Edit {
  return {
    kind: "cell",
    path,
    action,
    ...(cell !== undefined && { cell }),
    ...(source !== undefined && { source }),
    ...(cell_type !== undefined && { cellType: cell_type }),
  };
}

/** The patch that would do the same, for hooks that read patches. */
export function patchText(name: string, args: unknown): string {
  const lines = proposedEdits(name, args).flatMap((edit) => {
    if (edit.kind === "add") return [`*** Add File: ${edit.path}`, ...linesOf(edit.content).map((line) => `+${line}`)];
    if (edit.kind === "delete") return [`*** Delete File: ${edit.path}`];
    const body = edit.chunks.flatMap(({ before, after }) => [
      "@@",
      ...before.map((line) => `-${line}`),
      ...after.map((line) => `+${line}`),
    ]);
    return [`*** Update File: ${edit.path}`, ...body];
  });
  return ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
}
