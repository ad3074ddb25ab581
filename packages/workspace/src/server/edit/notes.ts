// Notes for the model on a change that was made although it was not certain where, or not exactly as written.
import type { EditChunk } from "@agentcli/protocol";
import type { LineChange } from "./line-changes.ts";
import type { ChunkMatch } from "./match.ts";
import type { Tolerance } from "./tolerance.ts";

interface AppliedChunk {
  /** The file as it was. */
  texts: string[];
  chunk: EditChunk;
  found: ChunkMatch;
  change: LineChange | undefined;
}

export function notesOn({ texts, chunk, found, change }: AppliedChunk): string[] {
  const line = change?.from ?? found.from + 1;
  const notes: string[] = [];
  if (found.tolerance !== "exact") notes.push(`line ${line}: ${fuzzyNote(texts, chunk, found)}`);
  if (found.others.length > 0) notes.push(`line ${line}: ${ambiguousNote(chunk, found)}`);
  return notes;
}

const ignored: Record<Exclude<Tolerance, "exact">, string> = {
  "trailing-space": "white space at the end of lines",
  indentation: "tabs and spaces at the start and end of lines",
  characters: "the kind of dashes, quotes and spaces",
};

function fuzzyNote(texts: string[], chunk: EditChunk, { from, tolerance }: ChunkMatch): string {
  const at = chunk.before.findIndex((line, index) => line !== texts[from + index]);
  const difference = `the file had ${shown(texts[from + at])} where the patch has ${shown(chunk.before[at])}`;
  return `found only by ignoring ${ignored[tolerance as keyof typeof ignored]}: ${difference}. Added lines are as in the patch; check them.`;
}

const maxListed = 5;

function ambiguousNote(chunk: EditChunk, { others, byAnchor }: ChunkMatch): string {
  const more = others.length > maxListed ? ` and ${others.length - maxListed} more` : "";
  const numbers = others.slice(0, maxListed).map((index) => index + 1);
  const elsewhere = `also at line ${numbers.join(", ")}${more} of the file as it was`;
  if (byAnchor)
    return `ambiguous: ${shown(chunk.anchors[0])} is ${elsewhere}. If another was meant, undo this and give more.`;
  return `ambiguous: these lines were ${elsewhere}. If another place was meant, undo this and give more context or an @@ line.`;
}

/** As JSON: tabs and spaces look different. */
const shown = (line = ""): string => JSON.stringify(line.length > 100 ? `${line.slice(0, 100)}…` : line);
