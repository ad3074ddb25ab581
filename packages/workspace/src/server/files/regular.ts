// Opens and reads regular files only: a FIFO, a device or an endless kernel file must never hold up the workspace.
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { type PathFault, pathFaultOf } from "./fault.ts";

export interface OpenFile {
  kind: "open";
  handle: FileHandle;
  stat: Stats;
}
export type OpenResult = OpenFile | { kind: "unreadable"; fault: PathFault };

/** The caller closes the handle. */
export async function openRegular(path: string): Promise<OpenResult> {
  try {
    const before = kindFault(await stat(path));
    if (before !== null) return { kind: "unreadable", fault: before };
    return await openChecked(path);
  } catch (error) {
    return { kind: "unreadable", fault: pathFaultOf(error) };
  }
}

// The kind is judged again on the open file, which may be another one by then. O_NONBLOCK: neither a FIFO put there
// in between nor a kernel file without news makes open or read wait.
async function openChecked(path: string): Promise<OpenResult> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    const fault = kindFault(stats);
    if (fault === null) return { kind: "open", handle, stat: stats };
    await handle.close();
    return { kind: "unreadable", fault };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function kindFault(stats: Stats): PathFault | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return { code: "not-a-file", reason: "it is a directory" };
  const kind = stats.isFIFO() ? "a FIFO" : stats.isSocket() ? "a socket" : "a device";
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
): Promise<{ kind: "bytes"; bytes: Buffer; stat: Stats } | { kind: "unreadable"; fault: PathFault }> {
  const opening = await openRegular(path);
  if (opening.kind === "unreadable") return opening;
  const { handle, stat } = opening;
  try {
    const tooLarge = tooLargeFor(stat.size, limitBytes);
    if (tooLarge !== null) return { kind: "unreadable", fault: tooLarge };
    const pieces: Buffer[] = [];
    const end = await scan(handle, limitBytes, (piece) => {
      pieces.push(piece);
      return "go on";
    });
    if (end === "whole") return { kind: "bytes", bytes: Buffer.concat(pieces), stat };
    return { kind: "unreadable", fault: { code: "too-large", reason: `it holds more than ${limitBytes} bytes` } };
  } catch (error) {
    return { kind: "unreadable", fault: pathFaultOf(error) };
  } finally {
    await handle.close();
  }
}

export function tooLargeFor(size: number, limitBytes: number): PathFault | null {
  if (size <= limitBytes) return null;
  return { code: "too-large", reason: `it has ${size} bytes, the limit is ${limitBytes}` };
}

/** A NUL byte near the start: no text has one. */
export const looksBinary = (start: Buffer) => start.subarray(0, 8 * 1024).includes(0);
