// What the index of git names, read from its file: the paths at which git enters another repository, and names that git itself
// would not write.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findCommonDirectory, readRegularFile } from "../git/index.ts";

/** Paths below the working tree. Throws if the index has a format that is not known here. */
export function readGitlinks(gitDirectory: string): Buffer[] {
  const indexes = indexFiles(gitDirectory).map((name) => readIndex(join(gitDirectory, name)));
  const candidates = indexes.filter(mayContainGitlinks);
  if (candidates.length === 0) return [];
  const hashBytes = usesSha256(gitDirectory) ? 32 : 20;
  return candidates.flatMap((index) => namesWhere(index, hashBytes, ({ mode }) => mode === gitlinkMode));
}

/** Git writes files by the names in an index without looking at them again: one can lead out of the working tree. */
export function readUnsafeNames(gitDirectory: string): string[] {
  const hashBytes = usesSha256(gitDirectory) ? 32 : 20;
  const indexes = indexFiles(gitDirectory).flatMap((name) => readRegularFile(join(gitDirectory, name)) ?? []);
  const names = indexes.flatMap((index) => namesWhere(index, hashBytes, ({ name }) => isUnsafe(name)));
  return names.map((name) => name.toString());
}

/** An entry for a directory, in a sparse index, ends with a slash. */
const isUnsafe = (name: Buffer): boolean => /^\/|\/\/|(?:^|\/)(?:\.{1,2}|\.git)(?:\/|$)/i.test(name.toString("latin1"));

/** The parts of a split index are all read, also one that is no longer used. */
const indexFiles = (gitDirectory: string): string[] =>
  readdirSync(gitDirectory).filter((name) => name === "index" || name.startsWith("sharedindex."));

function readIndex(path: string): Buffer {
  const index = readRegularFile(path);
  if (index === undefined) throw new Error(`${path} cannot be read.`);
  return index;
}

/**
 * Almost every index has none. Finding that out takes 10 ms for 200,000 entries, reading them all 50. The mode is 00 00 e0 00,
 * and zeros are everywhere, so the search is for the third byte.
 */
function mayContainGitlinks(index: Buffer): boolean {
  const isLater = index.readUInt32BE(4) >= 4;
  for (let at = index.indexOf(0xe0); at >= 0; at = index.indexOf(0xe0, at + 1)) {
    if (index[at + 1] !== 0 || index[at - 1] !== 0 || index[at - 2] !== 0) continue;
    if (isLater || [20, 32].some((hashBytes) => isEntry(index, at - 2 - modeOffset, hashBytes))) return true;
  }
  return false;
}

/** Whether an entry of an index before version 4 may begin here: they are aligned, and contain the length of their name. */
function isEntry(index: Buffer, at: number, hashBytes: number): boolean {
  const flagsAt = at + 40 + hashBytes;
  if ((at - headerBytes) % 8 !== 0 || flagsAt + 4 > index.length) return false;
  const flags = index.readUInt16BE(flagsAt);
  const nameAt = flagsAt + (flags & extendedFlag ? 4 : 2);
  const length = flags & maxNameLength;
  return length === maxNameLength || index[nameAt + length] === 0;
}

const headerBytes = 12;
const maxNameLength = 0xfff;
const gitlinkMode = 0o160000;
const modeOffset = 24;
const extendedFlag = 0x4000;

interface IndexEntry {
  mode: number;
  name: Buffer;
}

function namesWhere(index: Buffer, hashBytes: number, matches: (entry: IndexEntry) => boolean): Buffer[] {
  const [signature, version, count] = [index.toString("latin1", 0, 4), index.readUInt32BE(4), index.readUInt32BE(8)];
  if (signature !== "DIRC" || version < 2 || version > 4)
    throw new Error(`The index has an unknown format: ${version}.`);
  const names: Buffer[] = [];
  let previous: Buffer = Buffer.alloc(0);
  let at = headerBytes;
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + 40 + hashBytes;
    const nameAt = flagsAt + (index.readUInt16BE(flagsAt) & extendedFlag ? 4 : 2);
    const { name, end } = version === 4 ? readSuffix(index, nameAt, previous) : readName(index, nameAt);
    if (matches({ mode: index.readUInt32BE(at + modeOffset), name })) names.push(name);
    previous = name;
    // Before version 4 entries are padded with 1 to 8 zero bytes to a multiple of 8.
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  return names;
}

interface EntryName {
  name: Buffer;
  /** The zero byte after it. */
  end: number;
}

function readName(index: Buffer, at: number): EntryName {
  const end = index.indexOf(0, at);
  if (end < 0) throw new Error("The index is cut off.");
  return { name: index.subarray(at, end), end };
}

/** How many bytes of the previous name are dropped, and what follows the rest. */
function readSuffix(index: Buffer, at: number, previous: Buffer): EntryName {
  let [next, byte] = [at + 1, index.readUInt8(at)];
  let dropped = byte & 0x7f;
  while (byte & 0x80) {
    byte = index.readUInt8(next);
    next += 1;
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  const { name, end } = readName(index, next);
  return { name: Buffer.concat([previous.subarray(0, previous.length - dropped), name]), end };
}

function usesSha256(gitDirectory: string): boolean {
  const config = readRegularFile(join(findCommonDirectory(gitDirectory), "config"))?.toString("latin1") ?? "";
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config);
}
