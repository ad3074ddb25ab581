// A commit made inside the sandbox, as exported for the real repository. Parses hostile output. Pure.
import { gunzipSync } from "node:zlib";

export interface CommitExport {
  /** The commit of HEAD; undefined before the first. */
  head: string | undefined;
  /** Merge files that still exist. */
  mergeFiles: string[];
  changes: IndexChange[];
  /** New objects; git computes their names on import. */
  pack: Buffer;
}

export interface IndexChange {
  path: Buffer;
  /** The new index entries of the path; none if it was removed. */
  entries: { mode: string; object: string; stage: string }[];
}

const maxIndexBytes = 512 * 1024 * 1024;

/** Undefined if the export is incomplete: the command was ended early. */
export function readCommitExport(output: string): CommitExport | undefined {
  const files = readFiles(output);
  const [head, merge, before, after, pack] = ["head", "merge", "before", "after", "pack"].map((name) =>
    files.get(name),
  );
  if (!head || !merge || !before || !after || !pack) return undefined;
  return {
    head: /^[0-9a-f]{40,64}$/.exec(head.toString("latin1").trim())?.[0],
    mergeFiles: merge.toString("latin1").split("\n").filter(Boolean),
    changes: differences(readIndex(before), readIndex(after)),
    pack,
  };
}

function readFiles(output: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const section of output.split(/^== /m).slice(1)) {
    const end = section.indexOf("\n");
    files.set(section.slice(0, end), Buffer.from(section.slice(end + 1), "base64"));
  }
  return files;
}

/** Path, byte for byte, to its lines. */
type Index = Map<string, string[]>;

function readIndex(compressed: Buffer): Index {
  const index: Index = new Map();
  // Paths are bytes of unknown encoding; latin1 keeps every byte.
  const text = gunzipSync(compressed, { maxOutputLength: maxIndexBytes }).toString("latin1");
  for (const line of text.split("\0")) {
    const tab = line.indexOf("\t");
    if (tab < 0) continue;
    const path = line.slice(tab + 1);
    index.set(path, [...(index.get(path) ?? []), line.slice(0, tab)]);
  }
  return index;
}

function differences(before: Index, after: Index): IndexChange[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths]
    .filter((path) => before.get(path)?.join() !== after.get(path)?.join())
    .map((path) => ({ path: Buffer.from(path, "latin1"), entries: (after.get(path) ?? []).flatMap(readEntry) }));
}

function readEntry(text: string): IndexChange["entries"] {
  const [, mode, object, stage] = /^(\d{6}) ([0-9a-f]{40,64}) ([0-3])$/.exec(text) ?? [];
  return mode && object && stage ? [{ mode, object, stage }] : [];
}
