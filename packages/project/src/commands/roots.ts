// Where commands of other tools are: `.claude/commands` of repository and user, `~/.codex/prompts`.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";

export interface CommandRoot {
  path: string;
  /** Links must stay inside this directory; null: no restriction. */
  within: string | null;
  /** Before the name, such as `prompts:`; the name alone is enough. */
  prefix: string;
}

export interface CommandDirectories {
  root: string;
  cwd: string;
  /** Null if there is no user. */
  userHome: string | null;
}

/** The nearest first. */
export function commandRoots({ root, cwd, userHome }: CommandDirectories): CommandRoot[] {
  const repository = directoriesBetween(root, cwd)
    .reverse()
    .map((directory) => ({ path: join(directory, ".claude", "commands"), within: root, prefix: "" }));
  if (userHome === null) return repository;
  return [
    ...repository,
    { path: join(userHome, ".claude", "commands"), within: null, prefix: "" },
    { path: join(userHome, ".codex", "prompts"), within: null, prefix: "prompts:" },
  ];
}
