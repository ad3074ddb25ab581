// What leads git out of its repository when a person commits, stashes or checks out: a link in the place of a file that git
// writes, whose text is the agent's (MERGE_MSG), and names in the index that git itself would not write.
import { readdirSync, readlinkSync } from "node:fs";
import { readUnsafeNames } from "../gitlinks.ts";
import { below, type DirectoryPath } from "./search.ts";

/** Of one git directory. What is wrong, at most a few. */
export const trapsIn = (git: DirectoryPath): string[] => [...linksIn(git), ...unsafeNamesIn(git)].slice(0, maxNamed);

const maxNamed = 5;
const maxEntries = 2_000;
/** Judged with the settings. */
const judgedElsewhere = ["config", "config.worktree", "hooks", "commondir", "gitdir"];

/** Git follows a link when it writes COMMIT_EDITMSG, and when it adds to a log. */
function linksIn(git: DirectoryPath): string[] {
  const found: string[] = [];
  const open: { path: DirectoryPath; name: string }[] = [{ path: git, name: "" }];
  for (let seen = 0; open.length > 0 && seen < maxEntries; ) {
    const { path, name: above } = open.shift() ?? { path: git, name: "" };
    for (const entry of entriesOf(path)) {
      seen += 1;
      const name = `${above}${entry.name}`;
      const inner = below(path, entry.name);
      if (entry.isSymbolicLink() && !judgedElsewhere.includes(name) && !isBranch(name, inner))
        found.push(`${name} is a link`);
      if (entry.isDirectory() && (name === "logs" || above.startsWith("logs/")))
        open.push({ path: inner, name: `${name}/` });
    }
  }
  return found;
}

/** Old versions of git name the branch this way. */
const isBranch = (name: string, path: DirectoryPath): boolean =>
  name === "HEAD" && readlinkSync(path).startsWith("refs/");

function unsafeNamesIn(git: DirectoryPath): string[] {
  if (typeof git !== "string") return [];
  try {
    return readUnsafeNames(git).map((name) => `its index names ${name}`);
  } catch {
    // Git cannot read it either.
    return [];
  }
}

function entriesOf(directory: DirectoryPath) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
