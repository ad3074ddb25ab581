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
  const text = await host.reach(
    (remote) =>
      runGit(
        {
          location: nowhere,
          args: ["ls-remote", "--symref", "--", remote.address],
          remote,
          limitMs,
        },
        signal,
      ),
    signal,
  );
  const advertisement = readLines(text);
  if (advertisement.references.size === 0) await host.assertGit(signal);
  return advertisement;
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
