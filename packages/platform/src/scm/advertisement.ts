// What a repository offers: its branches and tags with their commits, and which branch is the usual one.
import { nowhere, runGit } from "../git/index.ts";
import type { SourceHost } from "./source-host.ts";

export interface Advertisement {
  /** Undefined where HEAD names no branch. */
  defaultBranch: string | undefined;
  /** Full names, such as `refs/heads/main`, to object names. */
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
          place: nowhere,
          args: ["ls-remote", "--symref", "--", remote.address],
          remote,
          limitMs,
        },
        signal,
      ),
    signal,
  );
  return readLines(text);
}

function readLines(text: string): Advertisement {
  const references = new Map<string, string>();
  let defaultBranch: string | undefined;
  for (const line of text.split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    const target = name === "HEAD" ? /^ref: (refs\/heads\/.+)$/.exec(value)?.[1] : undefined;
    if (target !== undefined) defaultBranch = isSound(target) ? target.slice("refs/heads/".length) : undefined;
    else if (/^[0-9a-f]{40,64}$/.test(value) && isSound(name)) references.set(name, value);
  }
  return { defaultBranch, references };
}

/** Git refuses a whole list of names with one in it that leads out of its folder, and whoever offers it could do so. */
const isSound = (name: string): boolean =>
  name === "HEAD" || (/^refs\/[^\x00-\x20\x7f~:?*[\\]+$/.test(name) && !/\/\.|\.\.|\/\//.test(name));
