// What a commit inside the sandbox wants to bring into the real repository. Read from hostile output. Pure.
import { gunzipSync } from "node:zlib";

export interface CommitOffer {
  /** The commit HEAD leads to now; undefined before the first. */
  head: string | undefined;
  /** Merge files that are still there. */
  mergeFiles: string[];
  changes: IndexChange[];
  /** New objects; their names are found out by whoever unpacks them. */
  pack: Buffer;
}

export interface IndexChange {
  path: Buffer;
  /** What the index has there now: mode, object and stage; none when it was removed. */
  entries: { mode: string; object: string; stage: string }[];
}

const mostIndexBytes = 512 * 1024 * 1024;

/** Undefined when there was nothing to hand over: the command was ended before its end. */
export function readOffer(output: string): CommitOffer | undefined {
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

/** Path, byte for byte, to its line or lines. */
type Index = Map<string, string[]>;

function readIndex(compressed: Buffer): Index {
  const index: Index = new Map();
  // Paths are bytes in no particular encoding; this one keeps every byte.
  const text = gunzipSync(compressed, { maxOutputLength: mostIndexBytes }).toString("latin1");
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
