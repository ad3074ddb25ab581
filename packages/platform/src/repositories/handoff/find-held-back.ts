// Which new files of a work tree are held back. A leftover that .gitignore includes by name, with `!`, is handed off.
import { askGit, GitFailed, type GitLocation } from "../git/index.ts";
import { type HeldBackFile, type NewFiles, openHeldBackFinder } from "./held-back.ts";

export interface HeldBack {
  /** Each directory once. Names are bytes as latin1 characters. */
  files: HeldBackFile[];
  covers(path: string): boolean;
}

export async function findHeldBack(
  { location, added, known }: NewFiles & { location: GitLocation },
  signal: AbortSignal,
): Promise<HeldBack> {
  const finder = openHeldBackFinder({ added, known });
  const found = new Map(added.flatMap((path) => pairOf(path, finder.find(path))));
  const leftovers = [...found].filter(([, { reason }]) => reason === "leftover").map(([path]) => path);
  for (const path of await includedByName(location, leftovers, signal)) found.delete(path);
  const files = new Map([...found.values()].map((file) => [file.path, file]));
  return { files: [...files.values()], covers: (path) => found.has(path) };
}

const pairOf = (path: string, file: HeldBackFile | undefined): [string, HeldBackFile][] =>
  file === undefined ? [] : [[path, file]];

/** Paths for which the last matching pattern of the work tree's .gitignore files begins with `!`. */
async function includedByName(location: GitLocation, paths: string[], signal: AbortSignal): Promise<string[]> {
  if (paths.length === 0 || location.workTree === undefined) return [];
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const args = ["check-ignore", "--no-index", "--verbose", "-z", "--stdin"];
  const { code, out, stderr } = await askGit({ location, args, input }, signal);
  // 1: no path matches a pattern.
  if (code !== 0 && code !== 1) throw new GitFailed("check-ignore", stderr);
  const fields = out.toString("latin1").split("\0");
  const matches = Array.from({ length: Math.floor(fields.length / 4) }, (_, index) =>
    fields.slice(index * 4, index * 4 + 4),
  );
  return matches.flatMap(([, , pattern = "", path = ""]) => (pattern.startsWith("!") ? path : []));
}
