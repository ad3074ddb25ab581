// Moves branches and tags of the real repository to where the shadow has them.
import type { References } from "./export.ts";
import type { HostGit } from "./host-git.ts";

export interface ReferenceMove {
  name: string;
  /** Absent: it is created. */
  from?: string;
  /** Absent: it is deleted. */
  to?: string;
}

/** All but the stash. */
export function movesBetween(base: References, next: References): ReferenceMove[] {
  const names = [...new Set([...base.keys(), ...next.keys()])].filter((name) => name !== "refs/stash");
  return names
    .map((name) => ({ name, from: base.get(name), to: next.get(name) }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => ({ name, ...(from && { from }), ...(to && { to }) }));
}

/** All or none. Each must still be where the shadow saw it: a user who moved one keeps theirs. */
export async function moveReferences(moves: ReferenceMove[], git: HostGit): Promise<void> {
  if (moves.length === 0) return;
  try {
    // First, because a new branch may need the name of a deleted one as a directory.
    for (const group of [moves.filter(({ to }) => !to), moves.filter(({ to }) => to)])
      if (group.length > 0) await git.run([...updateReference, "--stdin", "-z"], transaction(group));
  } catch (error) {
    throw new Error(`${(error as Error).message}${await keepCommits(moves, git)}`);
  }
}

const updateReference = ["update-ref", "-m", "agentcli: in the sandbox"];

const transaction = (moves: ReferenceMove[]): Buffer => Buffer.from(moves.map(instruction).join(""));

function instruction({ name, from, to }: ReferenceMove): string {
  if (to === undefined) return `delete ${name}\0${from}\0`;
  return from === undefined ? `create ${name}\0${to}\0` : `update ${name}\0${to}\0${from}\0`;
}

/** Returns a sentence that names the branches which keep the commits that could not be put on theirs. */
async function keepCommits(moves: ReferenceMove[], git: HostGit): Promise<string> {
  const commits = [...new Set(moves.flatMap(({ name, to }) => (to && name.startsWith("refs/heads/") ? [to] : [])))];
  const kept: string[] = [];
  for (const commit of commits) {
    const branch = `agentcli/${commit.slice(0, 12)}`;
    if (await git.succeeds([...updateReference, `refs/heads/${branch}`, commit])) kept.push(branch);
  }
  return kept.length === 0 ? "" : ` The commits are kept as ${kept.join(", ")}; merge or rebase them.`;
}
