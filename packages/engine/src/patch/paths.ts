// The paths that a patch names. Links are not resolved here: the workspace does that when it opens them.
import { proposedEdits } from "./proposed.ts";

/** Absolute; none for a call that cannot be read. */
export function patchedPaths({ name, args }: { name: string; args: unknown }, cwd: string): string[] {
  const { workdir = "" } = args as { workdir?: string };
  const names = proposedEdits(name, args).flatMap((edit) =>
    edit.kind === "update" && edit.moveTo !== undefined ? [edit.path, edit.moveTo] : [edit.path],
  );
  return names.map((path) => absolute(absolute(cwd, workdir), path));
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
