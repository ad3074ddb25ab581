// Reads a backup. Truncation, changes, additions and reordering are detected, and so is an archive that no key authenticates.
import { createHash, timingSafeEqual } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import { type KeyEncryption, openSealed } from "../../foundation/index.ts";
import { BackupError } from "./backup-error.ts";
import {
  type ArchiveEvent,
  ArchiveFacts,
  codeOf,
  currentVersion,
  deriveKey,
  frameBytes,
  frameContext,
  marks,
  overheadBytes,
  parseJson,
  readSection,
} from "./format.ts";

export interface ArchiveReader {
  facts: ArchiveFacts;
  /** Reads from the beginning at every call. Throws BackupError if the archive is damaged, at its end at the latest. */
  events(signal: AbortSignal): AsyncGenerator<ArchiveEvent>;
}

export interface ReaderKeys {
  /** Given: the archive must be sealed with it. */
  passphrase: string | null;
  /** The key-encryption key that authenticates an archive without a passphrase. Throws where there is none. */
  findKey(facts: ArchiveFacts): KeyEncryption;
}

export function openArchive(path: string, { passphrase, findKey }: ReaderKeys): ArchiveReader {
  const { facts, header } = readHeader(path);
  const { salt, formatVersion: version } = facts;
  if (salt !== null && passphrase === null)
    throw new BackupError(
      `${path} is encrypted with a passphrase. Specify the file that holds it: --passphrase-file FILE.`,
    );
  if (salt === null && passphrase !== null)
    throw new BackupError(
      `${path} is not sealed, but a passphrase was given. If the backup was made with one, the file has been replaced: use another backup. If not, restore it without --passphrase-file.`,
    );
  if (salt === null && version < currentVersion)
    throw new BackupError(
      `${path} was made by version ${facts.platformVersion} without a passphrase: nothing shows whether it was changed. Restore it with that version, then make a new backup.`,
    );
  const sealingKey = salt === null || passphrase === null ? null : deriveKey(passphrase, salt);
  const authenticator = sealingKey ? null : findKey(facts);
  const contextOf = frameContext({ header, version });
  return {
    facts,
    events: (signal) => readEvents({ path, header, version, sealingKey, authenticator, contextOf }, signal),
  };
}

function readHeader(path: string): { facts: ArchiveFacts; header: Buffer } {
  const file = openRegular(path);
  try {
    const start = Buffer.alloc(overheadBytes);
    const read = start.subarray(0, readSync(file, start, 0, overheadBytes, 0));
    const header = read.subarray(0, read.indexOf("\n") + 1);
    const value = parseJson(header.toString("utf8"));
    const { success, data } = ArchiveFacts.safeParse(value);
    if (success) return { facts: data, header };
    if (isNewer(value)) throw new BackupError(`${path} was made by a newer version of the platform. Use that version.`);
    throw new BackupError(`${path} is not a platform backup. Pass a file created by platform backup.`);
  } finally {
    closeSync(file);
  }
}

/** Does not block on a FIFO. */
function openRegular(path: string): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new BackupError(`${path} is not a regular file. Pass a file created by platform backup.`);
}

function isNewer(value: unknown): boolean {
  const { format, formatVersion } = (value ?? {}) as Record<string, unknown>;
  return format === "platform-backup" && typeof formatVersion === "number" && formatVersion > currentVersion;
}

interface Reading {
  path: string;
  header: Buffer;
  version: ArchiveFacts["formatVersion"];
  sealingKey: Buffer | null;
  authenticator: KeyEncryption | null;
  contextOf(frame: number): string;
}

async function* readEvents(reading: Reading, signal: AbortSignal): AsyncGenerator<ArchiveEvent> {
  const { path, header, version, authenticator } = reading;
  const file = openRegular(path);
  const digest = createHash("sha256");
  const readBytes = bytesOf(file, path);
  try {
    if (!readBytes(header.length).equals(header)) throw damaged(path, "it was changed while it was read");
    digest.update(header);
    for (let frame = 0; ; frame += 1) {
      // Reading blocks: without a pause no signal would be noticed.
      await setImmediate();
      signal.throwIfAborted();
      const length = readBytes(4);
      const payload = readBytes(checkedLength(length.readUInt32BE(), path));
      const { mark, content } = unpack(reading, payload, frame);
      if (mark === marks.end) {
        await checkEnd(content, { digest: digest.digest(), path, authenticator });
        if (readSync(file, Buffer.alloc(1)) > 0) throw damaged(path, "something was added to it");
        return;
      }
      digest.update(length).update(payload);
      if (mark === marks.section) yield { kind: "section", section: readSection(content.toString("utf8"), version) };
      else if (mark === marks.data) yield { kind: "data", piece: content };
      else throw damaged(path, "its contents were changed");
    }
  } finally {
    closeSync(file);
  }
}

const bytesOf = (file: number, path: string) => (length: number) => {
  const bytes = Buffer.alloc(length);
  let at = 0;
  for (let read = -1; at < length && read !== 0; at += read) read = readSync(file, bytes, at, length - at, null);
  if (at < length) throw damaged(path, "it is truncated");
  return bytes;
};

function checkedLength(length: number, path: string): number {
  if (length <= 2 * frameBytes + overheadBytes) return length;
  throw damaged(path, "its contents were changed");
}

interface End {
  digest: Buffer;
  path: string;
  authenticator: KeyEncryption | null;
}

async function checkEnd(content: Buffer, { digest, path, authenticator }: End): Promise<void> {
  const code = authenticator ? await codeOf(digest, authenticator) : Buffer.alloc(0);
  const expected = Buffer.concat([digest, code]);
  if (content.length === expected.length && timingSafeEqual(content, expected)) return;
  if (authenticator && content.length === expected.length && content.subarray(0, digest.length).equals(digest))
    throw new BackupError(
      `${path} was not made with the key-encryption key of this platform: it was replaced or changed. Use another backup.`,
    );
  throw damaged(path, "its contents were changed");
}

function unpack({ path, sealingKey, contextOf }: Reading, payload: Buffer, frame: number) {
  try {
    const packed = sealingKey ? openSealed(sealingKey, payload, contextOf(frame)) : payload;
    const content = inflateRawSync(packed, { maxOutputLength: 2 * frameBytes + overheadBytes });
    return { mark: content[0], content: content.subarray(1) };
  } catch (error) {
    throw damaged(
      path,
      sealingKey ? "its contents were changed, or the passphrase is wrong" : "its contents were changed",
      error,
    );
  }
}

const damaged = (path: string, how: string, cause?: unknown): BackupError =>
  new BackupError(`${path} is damaged: ${how}. Use another backup.`, { cause });
