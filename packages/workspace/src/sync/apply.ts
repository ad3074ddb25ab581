// Writes the changes that another machine sends into a directory, and nowhere else: that machine is not trusted. No process
// may write there meanwhile.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, rename, rm, symlink } from "node:fs/promises";
import type { Readable } from "node:stream";
import { addressOf, isOwn } from "./listing.ts";
import type { ChangeHeader } from "./send.ts";

export interface ApplyLimits {
  /** Of all files together; null: no limit. */
  maxBytes: number | null;
  maxFiles: number;
  /** Paths that stay directories. Programs outside of every sandbox work there, and would follow a link in their place. */
  directories: string[];
}

/** What was sent cannot be written. */
export class SyncFault extends Error {
  override name = "SyncFault";
  readonly code = "worker_files";
}

const maxHeaderBytes = 64 * 1024;
const maxPathBytes = 4_096;

/** Returns the paths. Applied twice, the result is the same. Throws SyncFault; the directory is incomplete then. */
export async function applyChanges(from: Readable, directory: string, limits: ApplyLimits): Promise<Set<string>> {
  const reader = openReader(from);
  const paths = new Set<string>();
  let bytes = 0;
  for (let files = 1; ; files += 1) {
    const length = (await reader.take(4)).readUInt32BE();
    if (length === 0) return paths;
    if (length > maxHeaderBytes) throw new SyncFault(`A header has ${length} bytes.`);
    const header = parseHeader((await reader.take(length)).toString("utf8"));
    if (header.kind === "file") bytes += header.size;
    if (files > limits.maxFiles) throw new SyncFault(`There are more than ${limits.maxFiles} files.`);
    if (limits.maxBytes !== null && bytes > limits.maxBytes)
      throw new SyncFault(`The files have more than ${limits.maxBytes} bytes.`);
    checkTarget(header, limits.directories);
    await applyOne(header, directory, reader);
    paths.add(header.path);
  }
}

function checkTarget({ kind, path }: ChangeHeader, directories: string[]): void {
  const [first = ""] = path.split("/");
  if (isOwn(first)) throw new SyncFault(`${first} is not exchanged between machines.`);
  if (kind !== "directory" && directories.some((kept) => `${kept}/`.startsWith(`${path}/`)))
    throw new SyncFault(`${path} must stay a directory.`);
}

async function applyOne(header: ChangeHeader, directory: string, reader: Reader): Promise<void> {
  const address = addressOf(directory, header.path);
  const hasParents = await makeParents(directory, header.path, header.kind !== "remove");
  if (!hasParents) return;
  if (header.kind === "file") return writeFile(directory, header, reader);
  const existing = await lstat(address).catch(() => undefined);
  if (header.kind !== "directory" || (existing && !existing.isDirectory()))
    await rm(address, { recursive: true, force: true });
  switch (header.kind) {
    case "remove":
      return;
    case "directory":
      await mkdir(address).catch(ignoreExisting);
      return chmod(address, (header.mode ?? 0o755) | 0o700);
    case "link":
      return symlink(Buffer.from(header.target, "latin1"), address);
  }
}

/** Complete before it takes the place of the former one: if the other side goes meanwhile, that one is still there. */
async function writeFile(directory: string, header: FileHeader, reader: Reader): Promise<void> {
  const draft = addressOf(directory, `.draft-${randomUUID()}`);
  const address = addressOf(directory, header.path);
  try {
    await writeDraft(draft, header, reader);
    const existing = await lstat(address).catch(() => undefined);
    if (existing?.isDirectory()) await rm(address, { recursive: true, force: true });
    await rename(draft, address);
  } finally {
    await rm(draft, { force: true });
  }
}

type FileHeader = Extract<ChangeHeader, { kind: "file" }>;

async function writeDraft(draft: Buffer, { size, mode }: FileHeader, reader: Reader): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(draft, flags, 0o600);
  try {
    for (let left = size; left > 0; ) {
      const part = await reader.takeSome(left);
      await file.writeFile(part);
      left -= part.length;
    }
    await file.chmod(mode | 0o400);
  } finally {
    await file.close();
  }
}

/** Through a link we would write to its target. False if there is nothing to remove. */
async function makeParents(directory: string, path: string, isMade: boolean): Promise<boolean> {
  const names = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const address = addressOf(directory, names.slice(0, depth).join("/"));
    const stats = await lstat(address).catch(() => undefined);
    if (stats?.isDirectory()) continue;
    if (!isMade) return false;
    await rm(address, { force: true });
    await mkdir(address);
  }
  return true;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function parseHeader(text: string): ChangeHeader {
  const header = parseObject(text);
  const { kind, path, mode = 0o644, size, target } = header;
  if (typeof path !== "string" || !isPath(path)) throw new SyncFault("A path leads out of the directory.");
  if (typeof mode !== "number" || !Number.isInteger(mode) || mode < 0 || mode > 0o777) throw invalidHeader();
  if (kind === "remove") return { kind, path };
  if (kind === "directory") return { kind, path, mode };
  if (kind === "file" && Number.isSafeInteger(size) && (size as number) >= 0)
    return { kind, path, mode, size: size as number };
  if (kind === "link" && typeof target === "string" && target !== "" && !target.includes("\0"))
    return { kind, path, target };
  throw invalidHeader();
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw invalidHeader();
  }
}

const invalidHeader = () => new SyncFault("The worker sent a file header that cannot be read.");

const isPath = (path: string): boolean =>
  path.length <= maxPathBytes &&
  !/[\0\u0100-\uffff]/.test(path) &&
  path.split("/").every((name) => name !== "" && name !== "." && name !== "..");

interface Reader {
  take(bytes: number): Promise<Buffer>;
  /** At least one byte, at most this many. */
  takeSome(maxBytes: number): Promise<Buffer>;
}

function openReader(from: Readable): Reader {
  async function takeSome(maxBytes: number): Promise<Buffer> {
    for (;;) {
      const available = Math.min(maxBytes, from.readableLength);
      const data = (available > 0 ? from.read(available) : from.read()) as Buffer | null;
      if (data !== null && data.length > maxBytes) from.unshift(data.subarray(maxBytes));
      if (data !== null) return data.subarray(0, maxBytes);
      if (from.destroyed || from.readableEnded) throw new SyncFault("The files were not sent to their end.");
      await readableOrOver(from);
    }
  }
  return {
    takeSome,
    async take(bytes) {
      const parts: Buffer[] = [];
      for (let left = bytes; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(await takeSome(left));
      return Buffer.concat(parts);
    },
  };
}

function readableOrOver(from: Readable): Promise<void> {
  return new Promise((resolve) => {
    const events = ["readable", "end", "close", "error"];
    const settle = () => {
      for (const event of events) from.off(event, settle);
      resolve();
    };
    for (const event of events) from.on(event, settle);
  });
}
