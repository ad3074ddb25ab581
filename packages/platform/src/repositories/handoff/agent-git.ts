// The git directory in an agent's workspace. The agent can write to it, so it is read as data and never passed to git as GIT_DIR.
import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readHead } from "@agentcli/workspace";
import { removeTree } from "../../foundation/index.ts";
import { isReference } from "../scm/index.ts";

export interface AgentGit {
  /** The commit the agent is on. */
  head: string;
  /** Undefined if HEAD is detached. */
  branch: string | undefined;
  /** The object directory, without links or alternates that lead elsewhere. */
  objects: string;
}

/** Undefined if git would not have written it like this: a link, a file instead of a directory, or borrowed objects. */
export function readAgentGit(path: string): AgentGit | undefined {
  const directory = join(path, ".git");
  const objects = join(directory, "objects");
  if (!isPlainDirectory(directory) || !isPlainDirectory(objects) || !isPlainDirectory(join(directory, "refs")))
    return undefined;
  if (!hasOnlyObjects(objects)) return undefined;
  const { commit, branch } = readHead(path);
  if (commit === null || (branch !== null && !isReference(branch))) return undefined;
  return { head: commit, branch: branch ?? undefined, objects };
}

function isPlainDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Files that git itself writes. `alternates` is excluded: it would expose the objects of any repository it names. */
const allowedName =
  /^(?:[0-9a-f]{2}|pack|info|info\/(?:packs|commit-graph|commit-graphs(?:\/[\w.-]+)?)|[0-9a-f]{2}\/\w+|pack\/[\w.-]+)$/;

function hasOnlyObjects(objects: string): boolean {
  try {
    return readdirSync(objects, { recursive: true, withFileTypes: true }).every((entry) => {
      const name = join(entry.parentPath, entry.name).slice(objects.length + 1);
      return allowedName.test(name) && (entry.isDirectory() || entry.isFile());
    });
  } catch {
    // Too deep, or without permission to read: git writes neither.
    return false;
  }
}

/** Moves the agent's branch, or its detached HEAD, to another commit and replaces its index. */
export async function moveAgent(
  path: string,
  { branch }: AgentGit,
  to: { commit: string; index: string },
): Promise<void> {
  const directory = join(path, ".git");
  const reference = branch === undefined ? "HEAD" : `refs/heads/${branch}`;
  await makePlainDirectories(directory, dirname(reference));
  await replaceFile(join(directory, reference), `${to.commit}\n`);
  await replaceFile(join(directory, "index"), readFileSync(to.index));
}

/** Checks every path segment: through a link we would write to its target. */
async function makePlainDirectories(directory: string, below: string): Promise<void> {
  let current = directory;
  for (const name of below === "." ? [] : below.split("/")) {
    current = join(current, name);
    if (isPlainDirectory(current)) continue;
    await rm(current, { force: true });
    await mkdir(current);
  }
}

/** A rename replaces an existing file or link instead of following it. */
async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.draft-${randomUUID()}`;
  await writeFile(draft, content, { flag: "wx" });
  if (isPlainDirectory(path)) await removeTree(path);
  await rename(draft, path);
}
