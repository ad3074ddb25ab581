// Reads one file of a unified diff, as git, diff and models write them.
import type { EditChunk, PatchEdit } from "@agentcli/protocol";
import { atUnifiedHeader, isAnchor, readChunk, skipGap } from "./chunk.ts";
import { current, lineAt, type Problem, type Reader } from "./reader.ts";

export const atUnifiedFile = (reader: Reader): boolean =>
  /^(?:diff --git |Index: )/.test(current(reader)) || atUnifiedHeader(reader) || atDeletion(reader);

const nothing = "/dev/null";

/** A deletion may come without the lines of the file. */
const atDeletion = (reader: Reader): boolean =>
  current(reader).startsWith("--- ") && pathIn(lineAt(reader, 1).replace(/^\+\+\+ /, "")) === nothing;

export function readUnifiedFile(reader: Reader): PatchEdit | Problem {
  const line = reader.at + 1;
  const headers = readHeaders(reader);
  if ("problem" in headers) return headers;
  const chunks = readHunks(reader);
  if ("problem" in chunks) return chunks;
  return editOf(headers, chunks) ?? { line, problem: emptyProblem(headers) };
}

interface Headers {
  from: string;
  to: string;
  change: "update" | "add" | "delete";
  mode: boolean;
}

function editOf({ from, to, change }: Headers, chunks: EditChunk[]): PatchEdit | null {
  if (from === "" && to === "") return null;
  if (change === "delete") return { kind: "delete", path: from || to };
  if (change === "add") {
    const added = chunks.flatMap(({ after }) => after);
    return { kind: "add", path: to || from, content: added.map((text) => `${text}\n`).join("") };
  }
  if (from === "" || to === "") return null;
  if (from !== to) return { kind: "update", path: from, moveTo: to, chunks };
  return chunks.length > 0 ? { kind: "update", path: from, chunks } : null;
}

function emptyProblem({ from, to, mode }: Headers): string {
  if (from === "" && to === "") return "the diff names no file; expected '--- a/{path}' and '+++ b/{path}'";
  if (from === "") return `the old name of '${to}' is missing; expected 'rename from {path}'`;
  if (to === "") return `the new name of '${from}' is missing; expected 'rename to {path}'`;
  if (mode) return `the diff of '${from}' changes only its mode; use chmod`;
  return `the diff of '${from}' changes nothing; expected '@@ -{line},{count} +{line},{count} @@' and lines`;
}

function readHunks(reader: Reader): EditChunk[] | Problem {
  const chunks: EditChunk[] = [];
  for (skipGap(reader); reader.at < reader.end && isAnchor(current(reader)); skipGap(reader)) {
    const chunk = readChunk(reader, { anchored: true, diff: true });
    if ("problem" in chunk) return chunk;
    chunks.push(chunk);
    skipMailSignature(reader);
  }
  return chunks;
}

/** `-- ` and the version of git behind the last hunk of a mailed patch. */
function skipMailSignature(reader: Reader): void {
  if (current(reader) === "-- " && /^\d[\d.]*/.test(lineAt(reader, 1))) reader.at += 2;
}

/** Lines between `diff --git` and the first hunk. */
function readHeaders(reader: Reader): Headers | Problem {
  const headers: Headers = { ...gitPaths(current(reader)), change: "update", mode: false };
  for (let first = true; reader.at < reader.end; reader.at += 1, first = false) {
    const line = current(reader);
    if (line.startsWith("--- ") && lineAt(reader, 1).startsWith("+++ ")) {
      applyPaths(headers, pathIn(line.slice(4)), pathIn(lineAt(reader, 1).slice(4)));
      reader.at += 2;
      return headers;
    }
    if (line.startsWith("diff --git ") && !first) return headers;
    const problem = applyHeader(headers, line);
    if (problem === "not a header") return headers;
    if (problem !== null) return { line: reader.at + 1, problem };
  }
  return headers;
}

/** Null when the line was understood. */
function applyHeader(headers: Headers, line: string): string | null {
  const [, key, value = ""] = headerLine.exec(line) ?? [];
  switch (key) {
    case undefined:
      return "not a header";
    case "new file mode":
      headers.change = "add";
      return null;
    case "deleted file mode":
      headers.change = "delete";
      return null;
    case "rename from":
      headers.from = pathIn(value);
      return null;
    case "rename to":
      headers.to = pathIn(value);
      return null;
    case "new mode":
      headers.mode = true;
      return null;
    case "copy from":
    case "copy to":
      return "copies are not supported; add the new file instead";
    case "Binary files":
    case "GIT binary patch":
      return "binary files cannot be patched; use a command";
    default:
      return null;
  }
}

const headerLine =
  /^(diff --git|Index:|={10,}|index|old mode|new mode|new file mode|deleted file mode|similarity index|dissimilarity index|rename from|rename to|copy from|copy to|Binary files|GIT binary patch)(?: (.*)|)$/;

function applyPaths(headers: Headers, from: string, to: string): void {
  if (from === nothing) headers.change = "add";
  if (to === nothing) headers.change = "delete";
  const prefixed = [from, to].every((path, index) => path === nothing || path.startsWith(`${"ab"[index]}/`));
  const strip = (path: string) => (path === nothing ? "" : prefixed ? path.slice(2) : path);
  headers.from = strip(from) || strip(to);
  headers.to = strip(to) || strip(from);
}

/** Both paths are the same but for the letter in front, or headers of their own follow. */
function gitPaths(line: string): { from: string; to: string } {
  const rest = /^diff --git (.*)$/.exec(line)?.[1] ?? "";
  const path = /^a\/(.+) b\/\1$/.exec(rest)?.[1] ?? /^"a\/(.+)" "b\/\1"$/.exec(rest)?.[1] ?? "";
  const name = rest.startsWith('"') ? pathIn(`"${path}"`) : path;
  return { from: name, to: name };
}

/** Without the time that diff adds, and without the quotes that git adds. */
function pathIn(text: string): string {
  const path = text.split("\t")[0]?.trim() ?? "";
  const quoted = /^"(.*)"$/.exec(path)?.[1];
  return quoted === undefined ? path : unquote(quoted);
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Escapes are bytes of UTF-8. */
function unquote(text: string): string {
  const bytes: number[] = [];
  for (const [piece, octal, letter] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gsu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (letter !== undefined) bytes.push(...(letter in escapes ? [escapes[letter] ?? 0] : encoder.encode(letter)));
    else bytes.push(...encoder.encode(piece));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const encoder = new TextEncoder();

/** Headers of a diff that stand under `*** Update File` as well. The path is that of the marker. */
export function skipUnifiedHeaders(reader: Reader): void {
  if (!/^(?:diff --git |index |Index: |--- )/.test(current(reader))) return;
  const ahead = { ...reader };
  const headers = readHeaders(ahead);
  if (!("problem" in headers) && isAnchor(current(ahead))) reader.at = ahead.at;
}
