// Lists the files of an agent's work tree, and writes those that the caller chooses to the index and as a tree. One fence for
// all of it: each start of one takes more time than git in it.
import { rm, writeFile } from "node:fs/promises";
import {
  GitFailed,
  type GitLocation,
  GitTookTooLong,
  GitWroteTooMuch,
  maxOutputBytes,
  type RunningGit,
  startGit,
} from "../git/index.ts";

export interface ChosenFiles {
  /** Paths to take off the index, and paths to write as they are now; bytes as latin1 characters. */
  gone: string[];
  there: string[];
  /** Size of the files that are there. */
  bytes: number;
}

export type IndexedWorkTree = GitLocation & { indexFile: string };

/** Returns the tree; null if nothing was chosen. `choose` gets what `git ls-files` lists, bytes as latin1 characters. */
export async function writeChosenFiles(
  { location, choose }: { location: IndexedWorkTree; choose(listing: string): Promise<ChosenFiles> },
  signal: AbortSignal,
): Promise<string | null> {
  const [gone, there] = [`${location.indexFile}-gone`, `${location.indexFile}-there`];
  const git = startGit({ location, script, args: [gone, there] });
  const ended = git.ended({ args: ["sh"], limitMs: wholeLimitMs }, signal);
  // Awaited below; what waits for the listing may learn first that git has ended.
  ended.catch(() => {});
  const output = readOutput(git);
  try {
    const listing = await within(output.listing, { git, command: "ls-files", limitMs: baseLimitMs });
    if (listing === null) throw new GitFailed("ls-files", (await ended).stderr);
    const chosen = await choose(listing);
    if (chosen.gone.length + chosen.there.length === 0) return null;
    await writePaths(gone, chosen.gone);
    await writePaths(there, chosen.there);
    git.stdin.end("go\n");
    const limitMs = baseLimitMs + chosen.bytes / bytesPerMs;
    const { code, stderr } = await within(ended, { git, command: "update-index", limitMs });
    if (code !== 0) throw new GitFailed(code === treeFailed ? "write-tree" : "update-index", stderr);
    return output.rest().trim();
  } finally {
    git.stdin.end();
    await Promise.allSettled([ended]);
    for (const path of [gone, there]) await rm(path, { force: true });
  }
}

const treeFailed = 70;

/**
 * Two zero bytes end the listing, in which no name is empty. Removals come first: if a file became a directory, its old entry
 * conflicts with the new entries below it. A file may be deleted after it was chosen. The tree is written with the work tree:
 * git marks files whose time cannot prove that they are unchanged, whenever it writes the index.
 */
const script = `
"$0" ls-files -z -t --stage --others --modified --deleted --exclude-standard || exit
printf '\\0\\0'
read -r go || exit 0
if [ -s "$1" ]; then "$0" update-index -z --force-remove --stdin < "$1" || exit; fi
if [ -s "$2" ]; then "$0" update-index -z --add --remove --replace --stdin < "$2" || exit; fi
"$0" write-tree || exit ${treeFailed}
`;

const baseLimitMs = 120_000;
/** Throughput of reading, compressing and writing on a slow disk. */
const bytesPerMs = 5_000;
const wholeLimitMs = 24 * 60 * 60_000;

const writePaths = (file: string, paths: string[]): Promise<void> =>
  writeFile(file, Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1"));

interface Step {
  git: RunningGit;
  command: string;
  limitMs: number;
}

async function within<T>(work: Promise<T>, { git, command, limitMs }: Step): Promise<T> {
  const limit = setTimeout(() => git.destroy(new GitTookTooLong(command, limitMs)), limitMs);
  try {
    return await work;
  } finally {
    clearTimeout(limit);
  }
}

interface Output {
  /** Null if git ended before. */
  listing: Promise<string | null>;
  /** What came after the listing. */
  rest(): string;
}

function readOutput(git: RunningGit): Output {
  let text = "";
  let end = -1;
  let notify = (_listing: string | null) => {};
  const listing = new Promise<string | null>((resolve) => {
    notify = resolve;
  });
  git.stdout.setEncoding("latin1").on("data", (more: string) => {
    if (text.length + more.length > maxOutputBytes) return git.destroy(new GitWroteTooMuch("ls-files"));
    const searched = Math.max(0, text.length - 1);
    text += more;
    if (end >= 0) return;
    end = text.indexOf("\0\0", searched);
    if (end >= 0) notify(text.slice(0, end));
  });
  git.stdout.on("close", () => notify(null));
  return { listing, rest: () => text.slice(end).replaceAll("\0", "") };
}
