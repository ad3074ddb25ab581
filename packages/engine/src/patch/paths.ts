// The paths that a patch names. Links are not resolved here: the workspace does that when it opens them.
import { parsePatch } from "./parse.ts";

/** Absolute; none for a patch that cannot be read. */
export function patchedPaths(args: unknown, cwd: string): string[] {
  const { input = "", workdir = "" } = args as { input?: string; workdir?: string };
  const patch = parsePatch(input);
  if (patch.kind === "invalid") return [];
  const names = patch.edits.flatMap((edit) =>
    edit.kind === "update" && edit.moveTo !== undefined ? [edit.path, edit.moveTo] : [edit.path],
  );
  return names.map((name) => absolute(absolute(cwd, workdir), name));
}

export const isWithin = (path: string, roots: string[]): boolean =>
  roots.some((root) => path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`));

function absolute(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
