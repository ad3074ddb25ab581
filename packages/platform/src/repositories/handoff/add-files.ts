// Adds the files of an agent's work tree to an index unchanged: names byte for byte, links as links, no filters. Uses plumbing
// commands because `git add --all` runs git inside nested repositories, with configuration that the agent may have written.
// New files that look like secrets or leftovers are not added.
import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { GitFailed, type GitLocation, GitTookTooLong, RepositoryFault } from "../git/index.ts";
import { findHeldBack } from "./find-held-back.ts";
import type { HeldBackFile } from "./held-back.ts";
import { type ChosenFiles, type IndexedWorkTree, writeChosenFiles } from "./work-tree-files.ts";

export interface AddedFiles {
  /** What was not added. */
  heldBack: HeldBackFile[];
  /** Of the index, with what was added and removed; null if there was nothing to add or to remove. */
  tree: string | null;
  /** What was added or removed, bytes as latin1 characters. */
  changed: string[];
}

/** Throws RepositoryFault if git cannot process the files. */
export async function addFiles(location: IndexedWorkTree, signal: AbortSignal): Promise<AddedFiles> {
  let heldBack: HeldBackFile[] = [];
  let changed: string[] = [];
  const choose = async (listing: string): Promise<ChosenFiles> => {
    const { files, chosen } = await chooseFiles(location, readListing(listing), signal);
    heldBack = files;
    changed = [...chosen.gone, ...chosen.there];
    return chosen;
  };
  try {
    const tree = await writeChosenFiles({ location, choose }, signal);
    return { heldBack, tree, changed };
  } catch (error) {
    throw faultOf(error);
  }
}

async function chooseFiles(
  location: GitLocation,
  { added, changed, entries }: ListedFiles,
  signal: AbortSignal,
): Promise<{ files: HeldBackFile[]; chosen: ChosenFiles }> {
  const inspector = openInspector(location.workTree ?? "");
  const known = entries.map(({ path }) => path);
  const heldBack = await findHeldBack({ location, added: added.filter((path) => !path.endsWith("/")), known }, signal);
  const listed = [...changed, ...added.filter((path) => !heldBack.covers(path))];
  const submodules = new Set(entries.filter(({ mode }) => mode === "160000").map(({ path }) => path));
  const isExistingSubmodule = (path: string) => submodules.has(path) && inspector.entryAt(path) !== undefined;
  const paths = [...new Set(listed)].filter((path) => !path.endsWith("/") && !isExistingSubmodule(path));
  const states = new Map(paths.map((path) => [path, inspector.inspect(path)]));
  const pathsIn = (state: FileState) => paths.filter((path) => states.get(path) === state);
  const there = pathsIn("there");
  const bytes = there.reduce((sum, path) => sum + (inspector.entryAt(path)?.size ?? 0), 0);
  if (bytes > maxBytes) throw tooLarge(bytes);
  return { files: heldBack.files, chosen: { gone: pathsIn("gone"), there, bytes } };
}

const maxBytes = 2 * 1024 ** 3;

interface IndexEntry {
  /** `160000` for a submodule. */
  mode: string;
  path: string;
}

interface ListedFiles {
  added: string[];
  changed: string[];
  /** Of the index. */
  entries: IndexEntry[];
}

/** Names are bytes as latin1 characters: they need not be text. */
function readListing(listing: string): ListedFiles {
  const lines = listing.split("\0").filter(Boolean);
  // A letter, then the path, or mode, object, stage and path of an entry.
  const isAdded = (line: string) => line.startsWith("? ");
  const isChange = (line: string) => line.startsWith("C ") || line.startsWith("R ");
  const pathOf = (line: string) => line.slice(line.indexOf("\t") + 1);
  const listed = lines.filter((line) => !isAdded(line));
  return {
    added: lines.filter(isAdded).map((line) => line.slice(2)),
    changed: listed.filter(isChange).map(pathOf),
    entries: listed.filter((line) => !isChange(line)).map((line) => ({ mode: line.slice(2, 8), path: pathOf(line) })),
  };
}

/** "unreadable" also covers special files. Their index entries stay unchanged. */
type FileState = "gone" | "there" | "unreadable";

interface FileInspector {
  inspect(path: string): FileState;
  /** Undefined if nothing exists at the path, or if a parent is a file. */
  entryAt(path: string): Stats | undefined;
}

function openInspector(root: string): FileInspector {
  const absolutePath = (path: string) => Buffer.concat([Buffer.from(join(root, "/")), Buffer.from(path, "latin1")]);
  const entryAt = (path: string): Stats | undefined => {
    try {
      return lstatSync(absolutePath(path), { throwIfNoEntry: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
      throw error;
    }
  };
  const links = new Map<string, boolean>();
  /** Whether a parent directory became a link: files behind it are not part of this work tree. */
  const isBehindLink = (path: string): boolean => {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (parent === "") return false;
    const isLink = links.get(parent) ?? (isBehindLink(parent) || entryAt(parent)?.isSymbolicLink() === true);
    links.set(parent, isLink);
    return isLink;
  };
  return {
    entryAt,
    inspect(path) {
      const entry = isBehindLink(path) ? undefined : entryAt(path);
      if (entry === undefined || entry.isDirectory()) return "gone";
      if (entry.isSymbolicLink()) return "there";
      return entry.isFile() && isReadable(absolutePath(path)) ? "there" : "unreadable";
    },
  };
}

function isReadable(path: Buffer): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const tooLarge = (bytes: number) =>
  new RepositoryFault(
    "commit_failed",
    `The agent has left ${(bytes / 1024 ** 3).toFixed(1)} GiB of new files, and a commit takes ${maxBytes / 1024 ** 3} at most. Have it delete them, or ignore them in .gitignore.`,
  );

/** Other errors are passed on to the caller. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof GitFailed || error instanceof GitTookTooLong)) return error;
  if (error instanceof GitFailed && error.command === "write-tree") return error;
  const reason = error instanceof GitFailed ? reasonsIn(error.stderr) : error.message;
  return new RepositoryFault(
    "commit_failed",
    `What the agent has left cannot be committed: ${reason.replace(/\.$/, "")}. Ask it in a follow-up to fix that.`,
    { cause: error },
  );
}

function reasonsIn(stderr: string): string {
  const lines = stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.+)/.exec(line)?.[1] ?? []);
  return (lines.join("; ") || stderr).slice(0, 500);
}
