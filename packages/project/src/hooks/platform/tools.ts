// Calls under the tool names of the platform dialect. A patch is one call per file it touches.

import { proposedEdits, readPaths } from "@agentcli/engine";
import type { HookCall } from "@agentcli/engine/hooks";
import type { PatchEdit } from "@agentcli/protocol";

export interface NamedCall {
  name: string;
  input: Record<string, unknown>;
}

export function namedCalls(call: HookCall, cwd: string): NamedCall[] {
  const { name, args } = call;
  if (call.mcp) return [{ name: `MCP:${call.mcp.tool}`, input: args }];
  switch (name) {
    case "exec_command":
      return [{ name: "Shell", input: { command: args.cmd, cwd: absolutePath(args.workdir, cwd) } }];
    case "apply_patch":
    case "edit_file":
    case "edit_notebook":
      return editsOf(call, cwd).map(({ path, edit }) => ({
        name: edit.kind === "delete" ? "Delete" : "Write",
        input: { file_path: path, ...contentOf(edit) },
      }));
    case "read_file":
      return readPaths(args).map((path) => ({ name: "Read", input: { ...args, file_path: absolutePath(path, cwd) } }));
    case "view_image":
      return [{ name: "Read", input: { ...args, file_path: absolutePath(args.path, cwd) } }];
    case "grep_files":
      return [{ name: "Grep", input: args }];
    case "spawn_agent":
      return [{ name: "Task", input: args }];
    default:
      return [{ name, input: args }];
  }
}

export interface FileEdit {
  path: string;
  edit: PatchEdit;
}

/** A moved file counts under both its paths. */
export function editsOf({ name, args }: HookCall, cwd: string): FileEdit[] {
  const base = absolutePath(args.workdir, cwd);
  return proposedEdits(name, args).flatMap((edit) => {
    const moved = edit.kind === "update" && edit.moveTo !== undefined ? [edit.moveTo] : [];
    return [edit.path, ...moved].map((path) => ({ path: absolutePath(path, base), edit }));
  });
}

const contentOf = (edit: PatchEdit): object =>
  edit.kind === "add" ? { content: edit.content } : edit.kind === "update" ? { edits: replacements(edit) } : {};

export const replacements = (edit: PatchEdit): { old_string: string; new_string: string }[] => {
  if (edit.kind === "add") return [{ old_string: "", new_string: edit.content }];
  if (edit.kind === "delete") return [];
  return edit.chunks.map(({ before, after }) => ({ old_string: before.join("\n"), new_string: after.join("\n") }));
};

/** Absolute and without dots: a hook compares paths as text. */
export function absolutePath(path: unknown, base: string): string {
  const whole = typeof path !== "string" || path === "" ? base : path.startsWith("/") ? path : `${base}/${path}`;
  const steps: string[] = [];
  for (const step of whole.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}
