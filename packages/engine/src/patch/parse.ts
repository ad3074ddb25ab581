// Parses a patch into edits. Never throws: an error is a sentence that names the line.
import type { Edit, EditChunk } from "@agentcli/protocol";
import { readHeredoc } from "./heredoc.ts";
import { marker } from "./markers.ts";

export type ParsedPatch = { kind: "patch"; edits: Edit[] } | { kind: "invalid"; message: string };

export function parsePatch(text: string): ParsedPatch {
  const lines = splitLines(unwrapHeredoc(text));
  if (lines[0]?.trim() !== marker.begin) return invalid(`the first line must be '${marker.begin}'`);
  if (lines.at(-1)?.trim() !== marker.end) return invalid(`the last line must be '${marker.end}'`);
  const reader: Reader = { lines, at: 1, end: lines.length - 1 };
  const edits: Edit[] = [];
  for (skipBlank(reader); reader.at < reader.end; skipBlank(reader)) {
    const edit = readFile(reader);
    if ("problem" in edit) return { kind: "invalid", message: `invalid hunk at line ${edit.line}, ${edit.problem}` };
    edits.push(edit);
  }
  if (edits.length === 0) return invalid(`it names no file; expected ${anyHeader}`);
  return { kind: "patch", edits };
}

/** `at` is the next line to read, `end` the line of the end marker. */
interface Reader {
  lines: string[];
  at: number;
  end: number;
}
interface Problem {
  line: number;
  problem: string;
}

function readFile(reader: Reader): Edit | Problem {
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

function readUpdate(reader: Reader, path: string): Edit | Problem {
  const headerLine = reader.at;
  const move = readMove(reader);
  if (typeof move === "object") return move;
  const chunks: EditChunk[] = [];
  for (skipGap(reader); !atFileHeader(reader); skipGap(reader)) {
    const chunk = readChunk(reader, chunks.length === 0 ? "anchor optional" : "anchor required");
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

function readChunk(reader: Reader, rule: "anchor optional" | "anchor required"): EditChunk | Problem {
  const first = reader.at;
  const chunk: EditChunk = { anchors: [], before: [], after: [], endOfFile: false };
  readAnchors(reader, chunk);
  if (reader.at === first && rule === "anchor required") {
    return { line: first + 1, problem: `'${current(reader)}' does not start a chunk; expected '@@' or '@@ {line}'` };
  }
  while (readChangeLine(reader, chunk)) reader.at += 1;
  if (chunk.before.length + chunk.after.length === 0) return { line: reader.at + 1, problem: expectedChange(reader) };
  chunk.endOfFile = current(reader).trimEnd() === marker.endOfFile;
  if (chunk.endOfFile) reader.at += 1;
  else if (!atFileHeader(reader) && !isAnchor(current(reader)))
    return { line: reader.at + 1, problem: expectedChange(reader) };
  return chunk;
}

function readAnchors(reader: Reader, chunk: EditChunk): void {
  for (; isAnchor(current(reader)); reader.at += 1) {
    const anchor = current(reader).slice(marker.anchor.length + 1);
    if (anchor.trim() !== "") chunk.anchors.push(anchor);
  }
}

/** Reads a context, removed or added line; false for any other line. */
function readChangeLine(reader: Reader, chunk: EditChunk): boolean {
  if (reader.at >= reader.end) return false;
  const line = current(reader);
  const text = line.slice(1);
  if (line === "" || line.startsWith(" ")) {
    chunk.before.push(text);
    chunk.after.push(text);
  } else if (line.startsWith("-")) chunk.before.push(text);
  else if (line.startsWith("+")) chunk.after.push(text);
  else return false;
  return true;
}

const expectedChange = (reader: Reader) =>
  `unexpected line '${current(reader)}' in an update; expected a line starting with ' ' (context), '-' (removed) or '+' (added)`;

const isAnchor = (line: string) => line.trimEnd() === marker.anchor || line.startsWith(`${marker.anchor} `);
const atFileHeader = (reader: Reader) =>
  reader.at >= reader.end || (current(reader).startsWith("***") && current(reader).trimEnd() !== marker.endOfFile);
const current = (reader: Reader) => reader.lines[reader.at] ?? "";

function skipBlank(reader: Reader): void {
  while (reader.at < reader.end && current(reader).trim() === "") reader.at += 1;
}

/** Blank lines before a marker are ignored; before anything else they are context. */
function skipGap(reader: Reader): void {
  const ahead = { ...reader };
  skipBlank(ahead);
  if (atFileHeader(ahead) || isAnchor(current(ahead))) reader.at = ahead.at;
}

const anyHeader = `'${marker.add}{path}', '${marker.delete}{path}' or '${marker.update}{path}'`;
const invalid = (problem: string): ParsedPatch => ({ kind: "invalid", message: `invalid patch: ${problem}` });

/** Line 1 is the begin marker: blank lines around the patch do not count. */
const splitLines = (text: string) => text.trim().split(/\r?\n/);

function unwrapHeredoc(text: string): string {
  const heredoc = readHeredoc(text);
  return heredoc !== null && ["", "apply_patch"].includes(heredoc.command) ? heredoc.body : text;
}
