// Changes of files that git reads or runs because settings name them: commands cannot write these files, but they can commit
// another content, which the user's next checkout writes.
import type { IndexChange } from "./export.ts";
import type { HostGit } from "./host-git.ts";
import { listChanges } from "./new-commits.ts";

interface Changes {
  commits: string[];
  /** Of the index. */
  changes: IndexChange[];
}

/** The paths of the changed ones. */
export async function changedPrograms(
  { commits, changes }: Changes,
  { git, programs }: { git: HostGit; programs: string[] },
): Promise<string[]> {
  if (programs.length === 0) return [];
  const fields = (await listChanges(commits, git, programs)).split("\0");
  const committed = fields.flatMap((field, index) => (field.startsWith(":") ? (fields[index + 1] ?? "") : []));
  const staged = changes.map(({ path }) => path.toString());
  const isNamed = (path: string) => programs.some((program) => path === program || path.startsWith(`${program}/`));
  return [...new Set([...committed, ...staged.filter(isNamed)])].slice(0, maxNamed);
}

const maxNamed = 20;

export const describePrograms = (path: string): string =>
  `This run committed or staged another ${JSON.stringify(path)}, which git reads or runs because settings of the repository name it. Check it before you check it out.`;
