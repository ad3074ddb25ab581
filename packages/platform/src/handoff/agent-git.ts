// Git's files in an agent's directory, which the agent may have written: read as data, never given to git as its own.

import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readHead } from "@agentcli/workspace";
import { isReference } from "../scm/index.ts";

export interface AgentGit {
  /** The commit the agent is on. */
  head: string;
  /** Undefined where it is on none. */
  branch: string | undefined;
  /** Holds objects and nothing that leads elsewhere. */
  objects: string;
}

/** Undefined where it is not as git leaves it: a link, a file in place of a directory, objects of somebody else. */
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

/** What git itself writes; `alternates` would lend the objects of whatever repository it names. */
const expected =
  /^(?:[0-9a-f]{2}|pack|info|info\/(?:packs|commit-graph|commit-graphs(?:\/[\w.-]+)?)|[0-9a-f]{2}\/\w+|pack\/[\w.-]+)$/;

const hasOnlyObjects = (objects: string): boolean =>
  readdirSync(objects, { recursive: true, withFileTypes: true }).every((entry) => {
    const name = join(entry.parentPath, entry.name).slice(objects.length + 1);
    return expected.test(name) && (entry.isDirectory() || entry.isFile());
  });

/** Moves the agent's branch, or its HEAD where it is on no branch, to another commit, and has it see the index as it is now. */
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

/** Each step is looked at: a link in the way would let us write where it points. */
async function makePlainDirectories(directory: string, below: string): Promise<void> {
  let here = directory;
  for (const name of below === "." ? [] : below.split("/")) {
    here = join(here, name);
    if (isPlainDirectory(here)) continue;
    await rm(here, { force: true });
    await mkdir(here);
  }
}

/** A rename takes the place of whatever is there, also of a link. */
async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.draft-${randomUUID()}`;
  await writeFile(draft, content, { flag: "wx" });
  if (isPlainDirectory(path)) await rm(path, { recursive: true });
  await rename(draft, path);
}
