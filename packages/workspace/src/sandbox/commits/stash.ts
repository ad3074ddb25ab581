// The stash of the real repository: a reference, and a reflog that holds the older entries.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HostGit } from "./host-git.ts";
import type { Shadow } from "./shadow.ts";

export function readStash({ commonDirectory }: Shadow): Buffer | undefined {
  try {
    return readFileSync(logPath(commonDirectory));
  } catch {
    return undefined;
  }
}

const logPath = (commonDirectory: string) => join(commonDirectory, "logs/refs/stash");

export interface StashChange {
  base: Buffer | undefined;
  next: Buffer | undefined;
}

export async function writeStash({ base, next }: StashChange, git: HostGit, shadow: Shadow): Promise<void> {
  if (isSame(base, next)) return;
  if (!isSame(base, readStash(shadow)))
    throw new Error(
      "The stash was changed outside the sandbox meanwhile, so that of the sandbox was not copied to the repository.",
    );
  const commits = next === undefined ? [] : commitsOf(next);
  const newest = commits.at(-1);
  if (next === undefined || newest === undefined) {
    await git.run(["update-ref", "-d", "refs/stash"]);
    return;
  }
  const found = await git.run(["cat-file", "--batch-check"], Buffer.from(`${[...new Set(commits)].join("\n")}\n`));
  if (!found.split("\n").every((line) => line === "" || / commit \d+$/.test(line)))
    throw new Error("Commits of the stash are missing, so it was not copied to the repository.");
  await git.run(["update-ref", "--create-reflog", "-m", "agentcli: in the sandbox", "refs/stash", newest]);
  replaceFile(logPath(shadow.commonDirectory), next);
}

const logLine = /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) /;

/** Oldest first. */
export function commitsOf(log: Buffer): string[] {
  const lines = log.toString("utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const commit = logLine.exec(line)?.[1];
    if (commit === undefined)
      throw new Error("The reflog of the stash is damaged, so the stash was not copied to the repository.");
    return commit;
  });
}

const isSame = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other);

function replaceFile(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}
