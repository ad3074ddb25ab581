// Parses a patch into edits. Never throws: an error is a sentence that names the line.
import type { EditChunk, PatchEdit } from "@agentcli/protocol";
import { readChunk, skipGap } from "./chunk.ts";
import { marker } from "./markers.ts";
import { atFileHeader, current, type Problem, type Reader, skipBlank } from "./reader.ts";
import { atUnifiedFile, readUnifiedFile, skipUnifiedHeaders } from "./unified.ts";
import { unwrap } from "./wrappers.ts";

export type ParsedPatch = { kind: "patch"; edits: PatchEdit[] } | { kind: "invalid"; message: string };

/** Also accepted: a unified diff instead of the markers or between them, in a heredoc or a Markdown fence. */
export function parsePatch(text: string): ParsedPatch {
  const lines = splitLines(unwrap(text));
  const reader = { lines, at: 0, end: lines.length };
  if (!atUnifiedFile(reader)) {
    if (lines[0]?.trim() !== marker.begin) return invalid(`the first line must be '${marker.begin}'`);
    if (lines.at(-1)?.trim() !== marker.end) return invalid(`the last line must be '${marker.end}'`);
    Object.assign(reader, { at: 1, end: lines.length - 1 });
  }
  const edits: PatchEdit[] = [];
  for (skipBlank(reader); reader.at < reader.end; skipBlank(reader)) {
    const edit = atUnifiedFile(reader) ? readUnifiedFile(reader) : readFile(reader);
    if ("problem" in edit) return { kind: "invalid", message: `invalid hunk at line ${edit.line}, ${edit.problem}` };
    edits.push(edit);
  }
  if (edits.length === 0) return invalid(`it names no file; expected ${anyHeader}`);
  return { kind: "patch", edits };
}

function readFile(reader: Reader): PatchEdit | Problem {
  const line = reader.at + 1;
  const header = current(reader).trim();
  const operation = ([marker.add, marker.delete, marker.update] as const).find((word) =>
    header.startsWith(word.trimEnd()),
  );
  if (operation === undefined) return { line, problem: `'${header}' is not a file header; expected ${anyHeader}` };
  const path = header.slice(operation.trimEnd().length).trim();
  if (path === "") return { line, problem: `'${header}' names no file; expected '${operation}{path}'` };
  reader.at += 1;
  switch (operation) {
    case marker.add:
      return { kind: "add", path, content: readAddedLines(reader) };
    case marker.delete:
      return { kind: "delete", path };
    case marker.update:
      return readUpdate(reader, path);
  }
}

function readAddedLines(reader: Reader): string {
  let content = "";
  for (; current(reader).startsWith("+"); reader.at += 1) content += `${current(reader).slice(1)}\n`;
  return content;
}

function readUpdate(reader: Reader, path: string): PatchEdit | Problem {
  const headerLine = reader.at;
  const move = readMove(reader);
  if (typeof move === "object") return move;
  skipUnifiedHeaders(reader);
  const chunks: EditChunk[] = [];
  for (skipGap(reader); !atFileHeader(reader); skipGap(reader)) {
    const chunk = readChunk(reader, { anchored: chunks.length > 0, diff: false });
    if ("problem" in chunk) return chunk;
    chunks.push(chunk);
  }
  if (move !== undefined) return { kind: "update", path, moveTo: move, chunks };
  if (chunks.length > 0) return { kind: "update", path, chunks };
  return {
    line: headerLine,
    problem: `the update of '${path}' is empty; expected '@@' or lines starting with ' ', '-' or '+'`,
  };
}

function readMove(reader: Reader): string | undefined | Problem {
  const line = current(reader).trim();
  if (!line.startsWith(marker.move.trimEnd())) return undefined;
  const path = line.slice(marker.move.trimEnd().length).trim();
  if (path === "") return { line: reader.at + 1, problem: `'${line}' names no file; expected '${marker.move}{path}'` };
  reader.at += 1;
  return path;
}

const anyHeader = `'${marker.add}{path}', '${marker.delete}{path}' or '${marker.update}{path}'`;
const invalid = (problem: string): ParsedPatch => ({ kind: "invalid", message: `invalid patch: ${problem}` });

/** Line 1 is the begin marker: blank lines around the patch do not count. */
function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  const isText = (line: string) => line.trim() !== "";
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}
