// The status of a workspace, read from files without starting git.

import { userInfo } from "node:os";
import type { StatusResult } from "@agentcli/protocol";
import { type GitDirectories, openFingerprint } from "../fingerprint.ts";
import { findRepository, readHeadIn } from "../git/index.ts";

export type RepositoryStates = Pick<StatusResult, "repositories">;

export function readStatus(
  server: { root: string; incarnation: string; env: Record<string, string> },
  states: Pick<StatusResult, "processes" | "repositories">,
): StatusResult {
  const { root, incarnation, env } = server;
  const repository = findRepository(root);
  return {
    root,
    incarnation,
    shell: env.SHELL || shellOfUser(),
    git: repository === undefined ? null : { root: repository.root, ...readHeadIn(repository.gitDirectory) },
    ...states,
  };
}

/** Reads nothing where there are none. */
export function openRepositoryStates(shadows: GitDirectories[]): () => RepositoryStates {
  if (shadows.length === 0) return () => ({});
  const fingerprints = shadows.map((one) => ({ name: one.commonDirectory, read: openFingerprint(one) }));
  return () => ({ repositories: Object.fromEntries(fingerprints.map(({ name, read }) => [name, read()])) });
}

function shellOfUser(): string {
  try {
    return userInfo().shell || "/bin/sh";
  } catch {
    // A user without an entry in the password file, as in many containers.
    return "/bin/sh";
  }
}
