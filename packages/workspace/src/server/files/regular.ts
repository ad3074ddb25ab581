// Opens and reads regular files only: a FIFO, a device or an endless kernel file must never hold up the workspace.
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { type Trouble, troubleOf } from "./fault.ts";

export interface OpenFile {
  kind: "open";
  handle: FileHandle;
  stat: Stats;
}
export type Opening = OpenFile | { kind: "closed"; trouble: Trouble };

/** The caller closes the handle. */
export async function openRegular(path: string): Promise<Opening> {
  try {
    const before = kindTrouble(await stat(path));
    if (before !== null) return { kind: "closed", trouble: before };
    return await openChecked(path);
  } catch (error) {
    return { kind: "closed", trouble: troubleOf(error) };
  }
}

// The kind is judged again on the open file, which may be another one by then. O_NONBLOCK: neither a FIFO put there
// in between nor a kernel file without news makes open or read wait.
async function openChecked(path: string): Promise<Opening> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    const trouble = kindTrouble(found);
    if (trouble === null) return { kind: "open", handle, stat: found };
    await handle.close();
    return { kind: "closed", trouble };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function kindTrouble(found: Stats): Trouble | null {
  if (found.isFile()) return null;
  if (found.isDirectory()) return { code: "not-a-file", reason: "it is a directory" };
  const kind = found.isFIFO() ? "a FIFO" : found.isSocket() ? "a socket" : "a device";
  return { code: "not-a-file", reason: `it is ${kind}, not a regular file` };
}

/** Hands on the content piece by piece, at most `limitBytes` of it or until told to stop; says whether that was all. */
export async function scan(
  handle: FileHandle,
  limitBytes: number,
  onPiece: (piece: Buffer) => "go on" | "stop",
): Promise<"whole" | "cut"> {
  let seen = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
    if (bytesRead === 0) return "whole";
    const next = onPiece(buffer.subarray(0, Math.min(bytesRead, limitBytes - seen)));
    seen += bytesRead;
    if (next === "stop" || seen > limitBytes) return "cut";
  }
}

const pieceBytes = 64 * 1024;

/** The whole file, or why it cannot be had. */
export async function readRegular(
  path: string,
  limitBytes: number,
): Promise<{ kind: "bytes"; bytes: Buffer; stat: Stats } | { kind: "closed"; trouble: Trouble }> {
  const opening = await openRegular(path);
  if (opening.kind === "closed") return opening;
  const { handle, stat } = opening;
  try {
    const tooLarge = tooLargeFor(stat.size, limitBytes);
    if (tooLarge !== null) return { kind: "closed", trouble: tooLarge };
    const pieces: Buffer[] = [];
    const end = await scan(handle, limitBytes, (piece) => {
      pieces.push(piece);
      return "go on";
    });
    if (end === "whole") return { kind: "bytes", bytes: Buffer.concat(pieces), stat };
    return { kind: "closed", trouble: { code: "too-large", reason: `it holds more than ${limitBytes} bytes` } };
  } catch (error) {
    return { kind: "closed", trouble: troubleOf(error) };
  } finally {
    await handle.close();
  }
}

export function tooLargeFor(size: number, limitBytes: number): Trouble | null {
  if (size <= limitBytes) return null;
  return { code: "too-large", reason: `it has ${size} bytes, the limit is ${limitBytes}` };
}

/** A NUL byte near the start: no text has one. */
export const looksBinary = (start: Buffer) => start.subarray(0, 8 * 1024).includes(0);
