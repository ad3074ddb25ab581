// What a workspace says about itself, read from files: no git process on the way.
import { userInfo } from "node:os";
import type { StatusResult } from "@agentcli/protocol";
import { findRepositoryRoot, readHead } from "../git/repository.ts";

export function readStatus(
  place: { root: string; incarnation: string; env: Record<string, string> },
  processes: StatusResult["processes"],
): StatusResult {
  const { root, incarnation, env } = place;
  const repository = findRepositoryRoot(root);
  return {
    root,
    incarnation,
    shell: env.SHELL || shellOfUser(),
    git: repository === undefined ? null : { root: repository, ...readHead(repository) },
    processes,
  };
}

function shellOfUser(): string {
  try {
    return userInfo().shell || "/bin/sh";
  } catch {
    // A user without an entry in the password file, as in many containers.
    return "/bin/sh";
  }
}
