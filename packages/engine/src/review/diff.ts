// Reads a unified diff of git as it arrives, and keeps of each file no more than a review can use.
import type { ChangedFile } from "./changed-file.ts";
import { pathIn } from "./changed-path.ts";
import { byImportance } from "./importance.ts";

export interface DiffReader {
  push(chunk: Uint8Array): void;
  /** The files, in the order of the diff. */
  end(): ChangedFile[];
}

/** Keeps at most `maxBytes` of a file, and of the more important files about eight times as much altogether. */
export function openDiffReader(maxBytes: number): DiffReader {
  const kept = keepImportant(maxBytes * filesAtFullLength);
  let file: FileReader | null = null;
  const lines = splitLines({
    begin(start) {
      if (startsWith(start, fileMark)) {
        if (file) kept.add(file.end());
        file = readFile(maxBytes);
      }
      file?.beginLine(start);
    },
    append: (bytes) => file?.append(bytes),
  });
  return {
    push: lines.push,
    end() {
      lines.end();
      if (file) kept.add(file.end());
      return kept.files;
    },
  };
}

const filesAtFullLength = 8;
const fileMark = "diff --git ";
const unmergedMark = "* Unmerged path ";
const hunkMark = "@@ ";
const newline = 10;

interface LineSink {
  /** The first bytes of a line, enough to tell what it is; they are appended as well. */
  begin(start: Uint8Array): void;
  /** More bytes of the same line, at the end of which is the newline. */
  append(bytes: Uint8Array): void;
}

/** Passes a line on while it is still arriving: one of 100 MB is not held. */
function splitLines(sink: LineSink) {
  let waiting: Uint8Array = new Uint8Array(0);
  let isInLine = false;
  function push(chunk: Uint8Array): void {
    const bytes = waiting.length === 0 ? chunk : joined(waiting, chunk);
    waiting = new Uint8Array(0);
    for (let at = 0; at < bytes.length; ) {
      const found = bytes.indexOf(newline, at);
      const end = found === -1 ? bytes.length : found + 1;
      if (!isInLine && found === -1 && end - at < unmergedMark.length) {
        waiting = bytes.slice(at);
        return;
      }
      if (!isInLine) sink.begin(bytes.subarray(at, Math.min(end, at + unmergedMark.length)));
      sink.append(bytes.subarray(at, end));
      isInLine = found === -1;
      at = end;
    }
  }
  const end = () => {
    if (waiting.length > 0) push(Uint8Array.of(newline));
  };
  return { push, end };
}

type FileReader = ReturnType<typeof readFile>;

function readFile(maxBytes: number) {
  const header = keepBytes(maxBytes);
  const body = keepBytes(maxBytes);
  let kept = header;
  let isSkipped = false;
  let changedLines = 0;
  return {
    beginLine(start: Uint8Array) {
      isSkipped = startsWith(start, unmergedMark);
      if (startsWith(start, hunkMark)) kept = body;
      else if (kept === body && (start[0] === plus || start[0] === minus)) changedLines += 1;
    },
    append(bytes: Uint8Array) {
      if (!isSkipped) kept.append(bytes);
    },
    end(): ChangedFile {
      const names = header.text();
      const isComplete = header.isComplete() && body.isComplete();
      const path = pathIn(names.split("\n"));
      return { path, header: names, body: body.text(), isComplete, changedLines, kind: kindOf(names) };
    },
  };
}

const plus = 0x2b;
const minus = 0x2d;

function kindOf(header: string): ChangedFile["kind"] {
  if (/^(Binary files |GIT binary patch$)/m.test(header)) return "binary";
  return /^deleted file mode /m.test(header) ? "deleted" : "text";
}

/** Drops the text of the least important files whenever twice the limit is reached. */
function keepImportant(maxBytes: number) {
  const files: ChangedFile[] = [];
  let held = 0;
  const lengthOf = ({ header, body }: ChangedFile) => header.length + body.length;
  function drop(): void {
    held = 0;
    for (const file of [...files].sort(byImportance)) {
      if (held + lengthOf(file) > maxBytes) Object.assign(file, { header: "", body: "", isComplete: false });
      held += lengthOf(file);
    }
  }
  const add = (file: ChangedFile) => {
    files.push(file);
    held += lengthOf(file);
    if (held > maxBytes * 2) drop();
  };
  return { files, add };
}

function startsWith(bytes: Uint8Array, mark: string): boolean {
  if (bytes.length < mark.length) return false;
  for (let index = 0; index < mark.length; index += 1) if (bytes[index] !== mark.charCodeAt(index)) return false;
  return true;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** The first bytes of a text, without the newline or the cut line at its end. */
function keepBytes(maxBytes: number) {
  let bytes = new Uint8Array(Math.min(maxBytes, 256));
  let length = 0;
  let total = 0;
  function append(more: Uint8Array): void {
    const part = more.subarray(0, maxBytes - length);
    total += more.length;
    if (length + part.length > bytes.length) {
      const larger = new Uint8Array(Math.min(maxBytes, 2 * (length + part.length)));
      larger.set(bytes);
      bytes = larger;
    }
    bytes.set(part, length);
    length += part.length;
  }
  const isComplete = () => total === length;
  function text(): string {
    const end = isComplete() && bytes[length - 1] !== newline ? length : bytes.lastIndexOf(newline, length - 1);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, Math.max(0, end)));
  }
  return { append, isComplete, text };
}
