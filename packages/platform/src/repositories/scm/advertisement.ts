// The refs that a remote repository advertises: branches and tags with their commits, and the default branch.
import { nowhere, runGit } from "../git/index.ts";
import type { SourceHost } from "./source-host.ts";

export interface Advertisement {
  /** Undefined if HEAD does not point to a branch. */
  defaultBranch: string | undefined;
  /** Full ref names, such as `refs/heads/main`, mapped to object ids. */
  references: Map<string, string>;
}

export async function readAdvertisement(
  host: SourceHost,
  limitMs: number,
  signal: AbortSignal,
): Promise<Advertisement> {
  const { directory } = host;
  const text = directory === null ? await askRemote(host, limitMs, signal) : await listOwn(directory, limitMs, signal);
  const advertisement = readLines(text);
  if (advertisement.references.size === 0) await host.assertGit(signal);
  return advertisement;
}

const askRemote = (host: SourceHost, limitMs: number, signal: AbortSignal): Promise<string> =>
  host.reach((remote) => {
    const args = ["ls-remote", "--symref", "--", remote.address];
    return runGit({ location: nowhere, args, remote, limitMs }, signal);
  }, signal);

/** The same lines with one process instead of the three of `ls-remote`. */
function listOwn(directory: string, limitMs: number, signal: AbortSignal): Promise<string> {
  const symbolic = "%(if:equals=*)%(HEAD)%(then)ref: %(refname)%09HEAD%0a%(end)";
  const format = `${symbolic}%(objectname)%09%(refname)%0a%(*objectname)%09%(refname)^{}`;
  const args = ["for-each-ref", `--format=${format}`, "refs/heads", "refs/tags"];
  return runGit({ location: { directory }, args, limitMs }, signal);
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
