// Searches directories for repositories and settings of agentcli, breadth first: those of people are near the top.
import { lstatSync, readdirSync } from "node:fs";

export interface RepositorySearch {
  /** Below the roots; bare ones also in them. Of agentcli's settings only those below. */
  repositories: Repository[];
  /** Could not be listed. */
  unreadable: DirectoryPath[];
  /** False if the limit was reached first. */
  isComplete: boolean;
}

/**
 * What makes a directory a repository: `.git`, whatever it is, or in a bare one `HEAD` beside the rest of a repository.
 * `.agentcli` is treated like one: in a trusted project, agentcli itself does what it names.
 */
export interface Repository {
  directory: DirectoryPath;
  entry: ".git" | "HEAD" | ".agentcli";
}

/** Bytes where a name in it is not text. */
export type DirectoryPath = string | Buffer;

/** Where tools put very many files, searched last. */
const crowded = new Set(["node_modules", ".venv", "venv", "site-packages", "target", "dist", "build", ".cache"]);
/** Listing a directory takes as long as reading this many of its entries. */
const directoryCost = 10;
/** Other work of this process waits no longer than this; starting an operation per directory would take 3 times as long. */
const sliceMs = 5;

export interface SearchOptions {
  maxEntries: number;
  /** Shared by searches of the same roots: a directory that did not change since is not listed again. */
  listings?: Listings;
  /** Ends the search early. */
  signal?: AbortSignal;
}

/** Does not follow symbolic links, nor enter a `.git`. */
export async function searchRepositories(roots: string[], options: SearchOptions): Promise<RepositorySearch> {
  const { maxEntries, listings = new Map(), signal } = options;
  const found: RepositorySearch = { repositories: [], unreadable: [], isComplete: true };
  const queue: DirectoryPath[] = [...new Set(roots)];
  const later: DirectoryPath[] = [];
  let [entries, sliceEnd] = [0, Date.now() + sliceMs];
  for (let at = 0; at < queue.length || later.length > 0; at += 1) {
    if (at >= queue.length) queue.push(...later.splice(0));
    const directory = queue[at] ?? "";
    const content = listUnlessKnown(directory, listings);
    entries += directoryCost + (content?.count ?? 0);
    if (content === undefined) found.unreadable.push(directory);
    if (content?.hasGit && !isOneOf(roots, directory)) found.repositories.push({ directory, entry: ".git" });
    if (content?.isBare) found.repositories.push({ directory, entry: "HEAD" });
    if (content?.hasSettings && !isOneOf(roots, directory)) found.repositories.push({ directory, entry: ".agentcli" });
    for (const name of content?.subdirectories ?? []) {
      const path = below(directory, name);
      if (!isOneOf(roots, path)) (crowded.has(name.toString()) ? later : queue).push(path);
    }
    if (entries > maxEntries) return { ...found, isComplete: at + 1 >= queue.length && later.length === 0 };
    if (Date.now() < sliceEnd) continue;
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted) return { ...found, isComplete: false };
    sliceEnd = Date.now() + sliceMs;
  }
  return found;
}

const isOneOf = (roots: string[], path: DirectoryPath) => typeof path === "string" && roots.includes(path);

export const below = (directory: DirectoryPath, name: DirectoryPath): DirectoryPath =>
  typeof directory === "string" && typeof name === "string"
    ? `${directory === "/" ? "" : directory}/${name}`
    : Buffer.concat([Buffer.from(directory), Buffer.from("/"), Buffer.from(name)]);

interface DirectoryContent {
  hasGit: boolean;
  isBare: boolean;
  hasSettings: boolean;
  subdirectories: DirectoryPath[];
  count: number;
}

/** By the path of the directory. */
export type Listings = Map<string, { content: DirectoryContent; state: string }>;

/** A change shortly before the listing could be followed by one that leaves the same time. */
const settledMs = 2_000;

/** Looking at a directory takes a fifth of the time of listing it. Commands cannot set back the time of its change. */
function listUnlessKnown(directory: DirectoryPath, listings: Listings): DirectoryContent | undefined {
  const stats = typeof directory === "string" ? statOf(directory) : undefined;
  if (typeof directory !== "string" || stats === undefined) return listDirectory(directory);
  const state = [stats.dev, stats.ino, stats.ctimeMs, stats.mode].join(" ");
  const known = listings.get(directory);
  if (known?.state === state) return known.content;
  const content = listDirectory(directory);
  if (content && stats.ctimeMs < Date.now() - settledMs) listings.set(directory, { content, state });
  else listings.delete(directory);
  return content;
}

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function listDirectory(directory: DirectoryPath): DirectoryContent | undefined {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    const has = (wanted: string) => entries.some(({ name }) => name === wanted);
    // With `commondir`, the rest is in another directory.
    const isBare = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
    const content = { hasGit: has(".git"), isBare, hasSettings: has(".agentcli"), count: entries.length };
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const subdirectories = names.some(isNotText) ? listBytes(directory) : names;
    return { ...content, subdirectories: subdirectories.filter((name) => name.toString() !== ".git") };
  } catch {
    return undefined;
  }
}

/** Bytes that are no text were read as this character. */
const isNotText = (name: string) => name.includes("\ufffd");

const listBytes = (directory: DirectoryPath): Buffer[] =>
  readdirSync(directory, { withFileTypes: true, encoding: "buffer" })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
