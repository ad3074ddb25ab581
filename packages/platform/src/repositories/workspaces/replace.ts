// Replaces the directories of an agent by those of another server.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeTree } from "../../foundation/index.ts";
import { prepareCommit } from "./checkout.ts";
import { openSource, type SourceOptions } from "./source.ts";
import type { AgentDirectories } from "./workspaces.ts";

export interface Replacement {
  directories: AgentDirectories;
  /** Writes the new ones; they do not exist, but their parents do. */
  fill(drafts: AgentDirectories): Promise<void>;
  /** Takes the former ones away, and returns what removes them from the disk. */
  setAside(): Promise<() => Promise<void>>;
}

/** A crash leaves the former ones, none, or those of the host alone; it may be called again. */
export async function replaceDirectories({ directories, fill, setAside }: Replacement): Promise<void> {
  const name = `.draft-${randomUUID()}`;
  const { workspace, host } = directories;
  const drafts = { workspace: join(dirname(workspace), name), host: join(dirname(host), name) };
  try {
    for (const draft of Object.values(drafts)) await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
    await fill(drafts);
    const cleanUp = await setAside();
    // The host's side first: if the agent's directory exists, both exist.
    await rename(drafts.host, host);
    await rename(drafts.workspace, workspace);
    await cleanUp();
  } finally {
    for (const draft of Object.values(drafts)) await removeTree(draft);
  }
}

/** The host's git directories borrow objects from a mirror, or from the embedded git host, of the server that they are on. */
export async function borrowAgain(
  host: string,
  { teamId, options }: { teamId: number; options: SourceOptions },
  signal: AbortSignal,
): Promise<void> {
  for (const name of (await readdir(host)).filter((entry) => entry.endsWith(".git"))) {
    const { url, baseCommit } = JSON.parse(await readFile(join(host, name, "platform.json"), "utf8"));
    const source = await openSource({ teamId, url }, options, signal);
    await prepareCommit({ commit: baseCommit, source, limits: options.limits }, signal);
    await mkdir(join(host, name, "objects/info"), { recursive: true });
    await writeFile(join(host, name, "objects/info/alternates"), `${join(source.directory, "objects")}\n`);
  }
}
