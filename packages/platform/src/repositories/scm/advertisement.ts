// The refs that a remote repository advertises: branches and tags with their commits, and the default branch.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listReferences, nowhere, runGit } from "../git/index.ts";
import type { SourceHost } from "./source-host.ts";

export interface Advertisement {
  /** Undefined if HEAD does not point to a branch. */
  defaultBranch: string | undefined;
  /** Full ref names, such as `refs/heads/main`, mapped to object ids. With `^{}`, of other hosts, to what a tag names. */
  references: Map<string, string>;
}

export async function readAdvertisement(
  host: SourceHost,
  limitMs: number,
  signal: AbortSignal,
): Promise<Advertisement> {
  signal.throwIfAborted();
  const { directory } = host;
  const advertisement = directory === null ? await askRemote(host, limitMs, signal) : await readOwn(directory);
  if (advertisement.references.size === 0) await host.assertGit(signal);
  return advertisement;
}

const askRemote = (host: SourceHost, limitMs: number, signal: AbortSignal): Promise<Advertisement> =>
  host.reach(async (remote) => {
    const args = ["ls-remote", "--symref", "--", remote.address];
    return readLines(await runGit({ location: nowhere, args, remote, limitMs }, signal));
  }, signal);

async function readOwn(directory: string): Promise<Advertisement> {
  const listed = await listReferences(directory, ["refs/heads", "refs/tags"]);
  const references = new Map([...listed].filter(([name]) => isSafeRefName(name)));
  const [, head = ""] = /^ref: (refs\/heads\/.+)$/m.exec(await readFile(join(directory, "HEAD"), "utf8")) ?? [];
  return { defaultBranch: references.has(head) ? head.slice("refs/heads/".length) : undefined, references };
}

function readLines(text: string): Advertisement {
  const references = new Map<string, string>();
  let defaultBranch: string | undefined;
  for (const line of text.split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    const target = name === "HEAD" ? /^ref: (refs\/heads\/.+)$/.exec(value)?.[1] : undefined;
    if (target !== undefined) defaultBranch = isSafeRefName(target) ? target.slice("refs/heads/".length) : undefined;
    else if (/^[0-9a-f]{40,64}$/.test(value) && isSafeRefName(name)) references.set(name, value);
  }
  return { defaultBranch, references };
}

/** A remote may advertise a ref name that escapes git's refs directory, and git then rejects the whole list. */
const isSafeRefName = (name: string): boolean =>
  name === "HEAD" || (/^refs\/[^\x00-\x20\x7f~:?*[\\]+$/.test(name) && !/\/\.|\.\.|\/\//.test(name));
