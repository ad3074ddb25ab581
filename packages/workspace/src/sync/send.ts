// Sends changes of files as a stream: for each, the length of a header, the header as JSON, and the content of a file.
import { once } from "node:events";
import { constants } from "node:fs";
import { chmod, lstat, open, readlink } from "node:fs/promises";
import type { Writable } from "node:stream";
import { addressOf, type Changes } from "./listing.ts";

/** What stands in front of each change. */
export type ChangeHeader =
  | { kind: "remove" | "directory"; path: string; mode?: number }
  | { kind: "file"; path: string; mode: number; size: number }
  | { kind: "link"; path: string; target: string };

const partBytes = 64 * 1024;

/** Ends with a header of no length. The stream stays open. */
export async function sendChanges(directory: string, { removed, written }: Changes, to: Writable): Promise<void> {
  for (const path of removed) await write(to, headerBytes({ kind: "remove", path }));
  for (const path of written) await sendOne(directory, path, to);
  await write(to, lengthBytes(0));
}

async function sendOne(directory: string, path: string, to: Writable): Promise<void> {
  const address = addressOf(directory, path);
  const stats = await lstat(address);
  const mode = stats.mode & 0o777;
  if (stats.isDirectory()) return write(to, headerBytes({ kind: "directory", path, mode }));
  if (stats.isSymbolicLink()) {
    const target = await readlink(address, { encoding: "latin1" });
    return write(to, headerBytes({ kind: "link", path, target }));
  }
  const file = await openReadable(address);
  try {
    const { size } = await file.stat();
    await write(to, headerBytes({ kind: "file", path, mode, size }));
    for (let sent = 0; sent < size; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(partBytes), 0, Math.min(partBytes, size - sent));
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was sent.`);
      await write(to, buffer.subarray(0, bytesRead));
      sent += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function openReadable(address: Buffer) {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  return open(address, flags).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES") throw error;
    await chmod(address, 0o600);
    return open(address, flags);
  });
}

function headerBytes(header: ChangeHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  return Buffer.concat([lengthBytes(text.length), text]);
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

async function write(to: Writable, bytes: Buffer): Promise<void> {
  if (to.destroyed) throw new Error("The other side has gone.");
  if (to.write(bytes)) return;
  const gone = once(to, "close").then(() => Promise.reject(new Error("The other side has gone.")));
  gone.catch(() => {});
  await Promise.race([once(to, "drain"), gone]);
}
