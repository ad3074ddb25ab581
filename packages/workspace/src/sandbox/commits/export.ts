// The state of a shadow repository, as exported for the real one. Parses hostile output. Pure.
import { gunzipSync } from "node:zlib";
import { operationFiles } from "./scripts.ts";

export interface RepositoryExport {
  /** The content of HEAD. */
  head: string;
  references: References;
  /** The reflog of the stash; undefined if nothing is stashed. */
  stash: Buffer | undefined;
  /** Files of a merge, cherry-pick or rebase in progress. */
  operation: Map<string, Buffer>;
  changes: IndexChange[];
  /** New objects; git computes their names on import. */
  pack: Buffer;
  /** Changed files that are not imported. */
  kept: string[];
  /** A rebase or a sequence of picks is in progress in the sandbox. */
  isUnfinished: boolean;
}

/** Name to object. */
export type References = Map<string, string>;

export interface IndexChange {
  path: Buffer;
  /** The new index entries of the path; none if it was removed. */
  entries: { mode: string; object: string; stage: string }[];
}

const maxIndexBytes = 512 * 1024 * 1024;

/** Undefined if the export is incomplete: the command was ended early. */
export function readRepositoryExport(output: string): RepositoryExport | undefined {
  const sections = readSections(output);
  const [head, references, before, after, pack] = ["head", "references", "before", "after", "pack"].map((name) =>
    sections.get(name),
  );
  if (!head || !references || !before || !after || !pack || !sections.has("end")) return undefined;
  return {
    head: head.toString("latin1").trim(),
    references: readReferences(references.toString("utf8")),
    stash: sections.get("stash"),
    operation: readOperation(sections),
    changes: differences(readIndex(before), readIndex(after)),
    pack,
    kept: (sections.get("kept")?.toString("latin1") ?? "").split("\n").filter(isPlainName),
    isUnfinished: (sections.get("unfinished")?.length ?? 0) > 0,
  };
}

/** The sandbox chose these names. */
const isPlainName = (name: string) => /^[\w./-]+$/.test(name);

function readSections(output: string): Map<string, Buffer> {
  const sections = new Map<string, Buffer>();
  for (const section of output.split(/^== /m).slice(1)) {
    const end = section.indexOf("\n");
    sections.set(section.slice(0, end), Buffer.from(section.slice(end + 1), "base64"));
  }
  return sections;
}

/** Not with names that git and people take for something else. */
const referenceLine =
  /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/(?:heads\/|tags\/|stash$)(?!-|(?:[A-Z_]+HEAD|HEAD)$)[^\0-\x20\x7f]*)$/;

/** Lines of an object and a name; other lines are dropped. */
export function readReferences(text: string): References {
  const lines = text.split("\n").flatMap((line) => {
    const [, object, name] = referenceLine.exec(line) ?? [];
    return object && name ? [[name, object] as const] : [];
  });
  return new Map(lines);
}

function readOperation(sections: Map<string, Buffer>): Map<string, Buffer> {
  const files = [...sections].flatMap(([name, content]) => {
    const file = operationFiles.find((known) => name === `operation ${known}`);
    return file === undefined ? [] : [[file, content] as const];
  });
  return new Map(files);
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
  const [, mode, object, stage] = /^(100644|100755|120000|160000) ([0-9a-f]{40,64}) ([0-3])$/.exec(text) ?? [];
  // Git would read another mode as one of these.
  if (!mode || !object || !stage) throw new Error("The index has an entry of an unknown form, so nothing was staged.");
  return [{ mode, object, stage }];
}
