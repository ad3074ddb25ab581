// The remote of the repository that a directory belongs to, read from its configuration without running git.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepositoryRoot } from "@agentcli/workspace";

/** Without a user or a password; undefined outside of a repository. */
export function readRemote(directory: string): string | undefined {
  try {
    const root = findRepositoryRoot(directory);
    if (root === undefined) return undefined;
    const config = readFileSync(join(root, ".git/config"), "utf8");
    const section = /^\[remote "origin"\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(config)?.[1];
    const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section ?? "")?.[1];
    return url?.replace(/^(https?:\/\/)[^/@]*@/, "$1");
  } catch {
    return undefined;
  }
}
