// A secret of the agent must not leave with its commits: looks for it in every file, name and message that a push would add.
import { type FoundSecret, type Secret, secretFinder } from "@agentcli/engine";
import { askGit, GitFailed, type GitLocation, RepositoryFault, runGit } from "../git/index.ts";

export interface NewCommits {
  location: GitLocation;
  head: string;
  /** Commits that were there before the agent, or are pushed already. */
  exclude: string[];
}

/** Throws RepositoryFault, which names the secret and where it is, but not its value. */
export async function refuseSecrets(commits: NewCommits, secrets: Secret[], signal: AbortSignal): Promise<void> {
  if (secrets.length === 0) return;
  const find = secretFinder(secrets);
  const objects = await listObjects(commits, signal);
  for (const group of inGroups(objects)) {
    const contents = await readContents(commits.location, group, signal);
    for (const [index, { name, type, path }] of group.entries()) {
      const found = find(contents[index] ?? "");
      if (found !== null) throw refusal(found, whereIs({ name, type, path }, found));
    }
  }
}

/** A directory is searched before what it contains, so its own path shows no secret. */
const whereIs = ({ name, type, path }: Omit<GitObject, "size">, { line }: FoundSecret): string => {
  if (type === "commit") return `the message of commit ${name.slice(0, 10)}`;
  return type === "tree" ? `the name of a file in ${path || "the top directory"}` : `${path}, line ${line}`;
};

const refusal = (found: FoundSecret, where: string): RepositoryFault =>
  new RepositoryFault(
    "secret_in_commit",
    `The secret ${found.name} is in ${where}, so nothing was pushed. Ask the agent to remove it from the commit itself, for example with git commit --amend: a later commit would leave it in the history.`,
  );

interface GitObject {
  name: string;
  /** A tree is a directory: its content are the names in it. */
  type: "commit" | "tree" | "blob";
  size: number;
  /** Up to its first line break; empty for a commit and for the top directory. */
  path: string;
}

/** Each once, with one of its paths. */
async function listObjects({ location, head, exclude }: NewCommits, signal: AbortSignal): Promise<GitObject[]> {
  const args = ["rev-list", "--objects", head, ...exclude.map((commit) => `^${commit}`), "--"];
  const listed = (await runGit({ location, args }, signal)).split("\n").filter(Boolean).map(nameAndPath);
  const input = listed.map(({ name }) => `${name}\n`).join("");
  const check = ["cat-file", "--batch-check=%(objecttype) %(objectsize)"];
  const described = (await runGit({ location, args: check, input }, signal)).split("\n");
  return listed.flatMap(({ name, path }, index) => {
    const [type, size] = (described[index] ?? "").split(" ");
    return type === "commit" || type === "tree" || type === "blob" ? [{ name, path, type, size: Number(size) }] : [];
  });
}

function nameAndPath(line: string): { name: string; path: string } {
  const space = line.indexOf(" ");
  return space < 0 ? { name: line, path: "" } : { name: line.slice(0, space), path: line.slice(space + 1) };
}

const groupBytes = 16 * 1024 * 1024;
/** The usual limit of hosts for one file. */
const maxBytes = 100 * 1024 * 1024;

/** Of bounded size together, so that a large push needs no more memory than its largest file. */
function* inGroups(objects: GitObject[]): Generator<GitObject[]> {
  let group: GitObject[] = [];
  let size = 0;
  for (const object of objects) {
    if (object.size > maxBytes)
      throw new RepositoryFault(
        "commit_failed",
        `${object.path} is too large to be searched for secrets (over 100 MB), so nothing was pushed. Ask the agent to leave it out of its commits.`,
      );
    if (size + object.size > groupBytes && group.length > 0) {
      yield group;
      group = [];
      size = 0;
    }
    group.push(object);
    size += object.size;
  }
  if (group.length > 0) yield group;
}

/** The contents in the order of the objects. */
async function readContents(location: GitLocation, objects: GitObject[], signal: AbortSignal): Promise<string[]> {
  const input = objects.map(({ name }) => `${name}\n`).join("");
  const { code, out, stderr } = await askGit({ location, args: ["cat-file", "--batch"], input }, signal);
  if (code !== 0) throw new GitFailed("cat-file", stderr);
  let at = 0;
  return objects.map(({ size }) => {
    const start = out.indexOf(0x0a, at) + 1;
    at = start + size + 1;
    return out.toString("utf8", start, start + size);
  });
}
