// A backup as one file: a header line, then frames. Each frame is compressed and, with a passphrase, sealed with its number;
// the last one holds a hash of everything before it. Truncation, changes and reordering are detected.
import { createHash, randomBytes, scryptSync } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { openSealed, seal } from "../../foundation/index.ts";
import { BackupError } from "./backup-error.ts";

export interface ArchiveFacts {
  format: "platform-backup";
  formatVersion: 1;
  platformVersion: string;
  createdAt: string;
  /** Migrations applied to the tables. */
  migrations: string[];
  /** Some files contain absolute paths below it. */
  dataDirectory: string;
  kekFingerprint: string;
  /** Null: not sealed, and without the key-encryption key. */
  salt: string | null;
}

export type Section =
  | { kind: "table"; name: string; columns: string[] }
  | { kind: "sequence"; name: string; lastValue: string }
  | { kind: "file"; path: string; mode: number }
  | { kind: "directory"; path: string; mode: number }
  | { kind: "link"; path: string; target: string }
  | { kind: "kek" };

export interface ArchiveWriter {
  /** Ends the previous section. */
  begin(section: Section): void;
  write(piece: Buffer): void;
  /** Flushes everything to disk. */
  finish(): void;
  /** Leaves an incomplete file. */
  abandon(): void;
}

/** Limit of the header line, and of what compression and sealing may add to a frame. */
const overheadBytes = 64 * 1024;
const frameBytes = 1024 * 1024;
const compression = { level: 1 };
/** First byte of a frame. */
const marks = { section: 1, data: 2, end: 3 };

export function createArchive(
  path: string,
  facts: Omit<ArchiveFacts, "format" | "formatVersion" | "salt">,
  passphrase: string | null,
): ArchiveWriter {
  const salt = passphrase === null ? null : randomBytes(16).toString("base64");
  const key = keyFrom(passphrase, salt);
  const file = openSync(path, "wx", 0o600);
  const digest = createHash("sha256");
  let frames = 0;
  let buffered: Buffer[] = [];
  let size = 0;
  const writeBytes = (bytes: Buffer): void => {
    digest.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  };
  const writeFrame = (mark: number, content: Buffer): void => {
    const packed = deflateRawSync(Buffer.concat([Buffer.of(mark), content]), compression);
    const payload = key ? seal(key, packed, frameContext(frames)) : packed;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(payload.length);
    frames += 1;
    writeBytes(Buffer.concat([length, payload]));
  };
  const flush = (): void => {
    if (size > 0) writeFrame(marks.data, Buffer.concat(buffered));
    buffered = [];
    size = 0;
  };
  writeBytes(Buffer.from(`${JSON.stringify({ format: "platform-backup", formatVersion: 1, ...facts, salt })}\n`));
  return {
    begin(section) {
      flush();
      writeFrame(marks.section, Buffer.from(JSON.stringify(section)));
    },
    write(piece) {
      // A row with images arrives as one large piece.
      for (let at = 0; at < piece.length; at += frameBytes) {
        const part = piece.subarray(at, at + frameBytes);
        buffered.push(part);
        size += part.length;
        if (size >= frameBytes) flush();
      }
    },
    finish() {
      flush();
      writeFrame(marks.end, digest.copy().digest());
      fsyncSync(file);
      closeSync(file);
    },
    abandon: () => closeSync(file),
  };
}

const frameContext = (frame: number): string => `backup:${frame}`;

function keyFrom(passphrase: string | null, salt: string | null): Buffer | null {
  if (passphrase === null || salt === null) return null;
  return scryptSync(passphrase.normalize("NFC"), Buffer.from(salt, "base64"), 32, {
    N: 2 ** 16,
    r: 8,
    p: 1,
    maxmem: 128 * 1024 * 1024,
  });
}

export type ArchiveEvent = { kind: "section"; section: Section } | { kind: "data"; piece: Buffer };

export interface ArchiveReader {
  facts: ArchiveFacts;
  /** Reads from the beginning at every call. Throws BackupError if the archive is damaged, at its end at the latest. */
  events(): Generator<ArchiveEvent>;
}

export function openArchive(path: string, passphrase: string | null): ArchiveReader {
  const { facts, length } = readFacts(path);
  if (facts.salt !== null && passphrase === null)
    throw new BackupError(`${path} is sealed with a passphrase. Name the file that holds it: --passphrase-file FILE.`);
  const key = keyFrom(passphrase, facts.salt);
  return { facts, events: () => readEvents(path, length, key) };
}

function readFacts(path: string): { facts: ArchiveFacts; length: number } {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(overheadBytes);
    const line =
      start
        .subarray(0, readSync(file, start, 0, overheadBytes, 0))
        .toString("utf8")
        .split("\n", 1)[0] ?? "";
    const facts = JSON.parse(line);
    if (facts.format !== "platform-backup") throw new SyntaxError("not a platform backup");
    if (facts.formatVersion !== 1)
      throw new BackupError(`${path} was made by a newer version (${facts.platformVersion}). Use that version.`);
    return { facts, length: Buffer.byteLength(line) + 1 };
  } catch (error) {
    if (error instanceof SyntaxError) throw new BackupError(`${path} is not a platform backup.`, { cause: error });
    throw error;
  } finally {
    closeSync(file);
  }
}

function* readEvents(path: string, start: number, key: Buffer | null): Generator<ArchiveEvent> {
  const file = openSync(path, "r");
  const digest = createHash("sha256");
  const readBytes = (length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    let at = 0;
    for (let read = -1; at < length && read !== 0; at += read) read = readSync(file, bytes, at, length - at, null);
    if (at < length) throw damaged(path, "it is truncated");
    return bytes;
  };
  try {
    digest.update(readBytes(start));
    for (let frames = 0; ; frames += 1) {
      const length = readBytes(4);
      const payload = readBytes(Math.min(length.readUInt32BE(), 2 * frameBytes + overheadBytes));
      const { mark, content } = unpack(path, payload, { key, context: frameContext(frames) });
      if (mark === marks.end) {
        if (!content.equals(digest.digest())) throw damaged(path, "its contents were changed");
        return;
      }
      digest.update(length).update(payload);
      if (mark === marks.section) yield { kind: "section", section: JSON.parse(content.toString("utf8")) };
      else yield { kind: "data", piece: content };
    }
  } finally {
    closeSync(file);
  }
}

function unpack(path: string, payload: Buffer, { key, context }: { key: Buffer | null; context: string }) {
  try {
    const packed = key ? openSealed(key, payload, context) : payload;
    const frame = inflateRawSync(packed, { maxOutputLength: 64 * frameBytes });
    return { mark: frame[0], content: frame.subarray(1) };
  } catch (error) {
    throw damaged(
      path,
      key ? "its contents were changed, or the passphrase is wrong" : "its contents were changed",
      error,
    );
  }
}

const damaged = (path: string, how: string, cause?: unknown): BackupError =>
  new BackupError(`${path} is damaged: ${how}. Use another backup.`, { cause });
