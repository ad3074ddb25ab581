// Paths of an environment.json, which are relative to its directory, as paths from the root of the repository.
import type { EnvironmentBuild } from "@agentcli/protocol/environment-file";

export interface BuildPaths {
  /** From the repository root: `.platform/Dockerfile`. */
  dockerfile: string;
  /** From the repository root; empty for the root itself. */
  context: string;
}

/** `.`, `./` and `..` as context mean the repository root; everything else is relative to `.platform`. */
export function buildPaths({ dockerfile, context = "" }: EnvironmentBuild): BuildPaths {
  const isRoot = /^\.{1,2}\/?$/.test(context);
  return { dockerfile: fromRoot(dockerfile), context: isRoot ? "" : fromRoot(context) };
}

function fromRoot(path: string): string {
  const plain = path.replace(/^\.\//, "").replace(/\/$/, "");
  if (plain.startsWith("../")) return plain.slice("../".length);
  return plain === "" ? ".platform" : `.platform/${plain}`;
}
