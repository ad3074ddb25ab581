// The remote of the repository that a directory belongs to, read from its configuration without running git.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { findRepositoryRoot } from "@agentcli/workspace";

/** Without a user or a password; undefined outside of a repository. */
export function readRemote(directory: string): string | undefined {
  try {
    const root = findRepositoryRoot(directory);
    if (root === undefined) return undefined;
    const config = readFileSync(configOf(root), "utf8");
    const section = /^\[remote "origin"\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(config)?.[1];
    const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section ?? "")?.[1];
    return url?.replace(/^(https?:\/\/)[^/@]*@/, "$1");
  } catch {
    return undefined;
  }
}

/** A linked work tree has that of its repository, a submodule its own. */
function configOf(root: string): string {
  const git = join(root, ".git");
  if (statSync(git).isDirectory()) return join(git, "config");
  const linked = resolve(
    root,
    readFileSync(git, "utf8")
      .replace(/^gitdir: /, "")
      .trim(),
  );
  const common = join(linked, "commondir");
  return resolve(linked, existsSync(common) ? readFileSync(common, "utf8").trim() : ".", "config");
}
