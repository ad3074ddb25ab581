// fuzzyFileSearch: files and folders below some directories whose path matches the query, the best first.
import { readdir, stat } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { git } from "@agentcli/host/git";
import type { ResultOf } from "@agentcli/protocol/app-server";
import { type Host, invalidRequest, type OpenPart } from "../method.ts";
import { fuzzyMatch } from "./fuzzy-match.ts";
import { absolute, reaching } from "./paths.ts";

export const openFileSearch: OpenPart = (host) => {
  const latest = new Map<string, AbortController>();
  return {
    methods: {
      async fuzzyFileSearch({ query, roots, cancellationToken }, client, call) {
        const directories = roots.map(absolute);
        const stop = new AbortController();
        const leave = () => stop.abort();
        call.signal.addEventListener("abort", leave);
        const key = cancellationToken == null ? null : `${client.id} ${cancellationToken}`;
        // The user keeps typing: the earlier query is obsolete.
        if (key !== null) latest.get(key)?.abort();
        if (key !== null) latest.set(key, stop);
        try {
          return { files: query.trim() === "" ? [] : await search(query, directories, host, stop.signal) };
        } finally {
          call.signal.removeEventListener("abort", leave);
          if (key !== null && latest.get(key) === stop) latest.delete(key);
        }
      },
    },
    async close() {
      for (const stop of latest.values()) stop.abort();
    },
  };
};

type Found = ResultOf<"fuzzyFileSearch">["files"][number];

const maxResults = 50;
const maxEntries = 200_000;
/** Entries processed before yielding to the event loop. */
const bunch = 5_000;

/** Nothing once it was stopped. */
async function search(query: string, roots: string[], host: Host, signal: AbortSignal): Promise<Found[]> {
  const found: Found[] = [];
  for (const root of roots) {
    const entries = await reaching(root, () => entriesBelow(root, host, signal));
    for (const [index, { path, kind }] of entries.entries()) {
      if (index % bunch === 0) await breathe();
      if (signal.aborted) return [];
      const match = fuzzyMatch(query, path);
      if (match) found.push({ root, path, match_type: kind, file_name: basename(path), ...match });
    }
  }
  return found.sort(byScore).slice(0, maxResults);
}

const byScore = (one: Found, other: Found): number => other.score - one.score || (one.path < other.path ? -1 : 1);

interface Entry {
  /** Relative to its root. */
  path: string;
  kind: Found["match_type"];
}

async function entriesBelow(root: string, host: Host, signal: AbortSignal): Promise<Entry[]> {
  if (!(await stat(root)).isDirectory()) throw invalidRequest(`${root}: it is not a directory.`);
  const files = (await filesOfGit(root, host, signal)) ?? (await filesByWalking(root, signal));
  const folders = new Set(files.flatMap(foldersOf));
  return [
    ...files.map((path): Entry => ({ path, kind: "file" })),
    ...[...folders].map((path): Entry => ({ path, kind: "directory" })),
  ];
}

/** What git would commit or has committed; null where there is no git, or no repository. */
async function filesOfGit(root: string, { program }: Host, signal: AbortSignal): Promise<string[] | null> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const request = { directory: root, args, environment: program.environment, signal };
  const listed = await git(request).catch(() => null);
  if (listed?.code !== 0) return null;
  return listed.stdout.toString("utf8").split("\0").filter(Boolean).slice(0, maxEntries);
}

const passedOver = [".git", "node_modules"];

/** Breadth first, so that the deepest entries are cut off; links are not followed. */
async function filesByWalking(root: string, signal: AbortSignal): Promise<string[]> {
  const files: string[] = [];
  const folders = [""];
  for (const folder of folders) {
    if (signal.aborted || files.length + folders.length > maxEntries) break;
    // Unreadable directories are skipped.
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = posix.join(folder, entry.name);
      if (entry.isFile()) files.push(path);
      if (entry.isDirectory() && !passedOver.includes(entry.name)) folders.push(path);
    }
  }
  return files;
}

function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}
