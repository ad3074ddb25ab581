// The status of a workspace, read from files without starting git.

import { userInfo } from "node:os";
import type { StatusResult } from "@agentcli/protocol";
import { fingerprintRepository, type GitDirectories } from "../fingerprint.ts";
import { findRepository, readHeadIn } from "../git/index.ts";

export function readStatus(
  server: { root: string; incarnation: string; env: Record<string, string>; shadows: GitDirectories[] },
  processes: StatusResult["processes"],
): StatusResult {
  const { root, incarnation, env, shadows } = server;
  const repository = findRepository(root);
  return {
    root,
    incarnation,
    shell: env.SHELL || shellOfUser(),
    git: repository === undefined ? null : { root: repository.root, ...readHeadIn(repository.gitDirectory) },
    processes,
    ...(shadows.length > 0 && {
      repositories: Object.fromEntries(shadows.map((one) => [one.commonDirectory, fingerprintRepository(one)])),
    }),
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
