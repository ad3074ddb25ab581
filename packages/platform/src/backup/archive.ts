// A backup as one file: a line about it, then frames. Each frame is compressed and, with a passphrase, sealed for its place;
// the last one holds a hash of all before it. What was cut off, changed or put in another order is noticed.
import { createHash, randomBytes, scryptSync } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { openSealed, seal } from "../vault/index.ts";
import { BackupProblem } from "./problem.ts";

export interface ArchiveFacts {
  format: "platform-backup";
  formatVersion: 1;
  platformVersion: string;
  createdAt: string;
  /** The migrations that the tables had been through. */
  migrations: string[];
  /** Files name each other by it. */
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
  /** Ends the section before. */
  begin(section: Section): void;
  write(piece: Buffer): void;
  /** Everything is on the disk afterwards. */
  finish(): void;
  /** Whatever was written is not a backup. */
  abandon(): void;
}

/** Of the first line, and of what compressing and sealing may add. */
const spareBytes = 64 * 1024;
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
  let gathered: Buffer[] = [];
  let size = 0;
  const put = (bytes: Buffer): void => {
    digest.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  };
  const putFrame = (mark: number, content: Buffer): void => {
    const packed = deflateRawSync(Buffer.concat([Buffer.of(mark), content]), compression);
    const payload = key ? seal(key, packed, placeOf(frames)) : packed;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(payload.length);
    frames += 1;
    put(Buffer.concat([length, payload]));
  };
  const flush = (): void => {
    if (size > 0) putFrame(marks.data, Buffer.concat(gathered));
    gathered = [];
    size = 0;
  };
  put(Buffer.from(`${JSON.stringify({ format: "platform-backup", formatVersion: 1, ...facts, salt })}\n`));
  return {
    begin(section) {
      flush();
      putFrame(marks.section, Buffer.from(JSON.stringify(section)));
    },
    write(piece) {
      // A row with images comes as one piece.
      for (let at = 0; at < piece.length; at += frameBytes) {
        const part = piece.subarray(at, at + frameBytes);
        gathered.push(part);
        size += part.length;
        if (size >= frameBytes) flush();
      }
    },
    finish() {
      flush();
      putFrame(marks.end, digest.copy().digest());
      fsyncSync(file);
      closeSync(file);
    },
    abandon: () => closeSync(file),
  };
}

const placeOf = (frame: number): string => `backup:${frame}`;

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
  /** From the beginning, at every call. Throws BackupProblem where it is damaged, at the end at the latest. */
  events(): Generator<ArchiveEvent>;
}

export function openArchive(path: string, passphrase: string | null): ArchiveReader {
  const { facts, length } = readFacts(path);
  if (facts.salt !== null && passphrase === null)
    throw new BackupProblem(
      `${path} is sealed with a passphrase. Name the file that holds it: --passphrase-file FILE.`,
    );
  const key = keyFrom(passphrase, facts.salt);
  return { facts, events: () => readEvents(path, length, key) };
}

function readFacts(path: string): { facts: ArchiveFacts; length: number } {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(spareBytes);
    const line =
      start
        .subarray(0, readSync(file, start, 0, spareBytes, 0))
        .toString("utf8")
        .split("\n", 1)[0] ?? "";
    const facts = JSON.parse(line);
    if (facts.format !== "platform-backup") throw new SyntaxError("of another format");
    if (facts.formatVersion !== 1)
      throw new BackupProblem(`${path} was made by a newer platform (${facts.platformVersion}). Use that version.`);
    return { facts, length: Buffer.byteLength(line) + 1 };
  } catch (error) {
    if (error instanceof SyntaxError) throw new BackupProblem(`${path} is no backup of a platform.`, { cause: error });
    throw error;
  } finally {
    closeSync(file);
  }
}

function* readEvents(path: string, start: number, key: Buffer | null): Generator<ArchiveEvent> {
  const file = openSync(path, "r");
  const digest = createHash("sha256");
  const take = (length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    let at = 0;
    for (let read = -1; at < length && read !== 0; at += read) read = readSync(file, bytes, at, length - at, null);
    if (at < length) throw damaged(path, "it ends in the middle");
    return bytes;
  };
  try {
    digest.update(take(start));
    for (let frames = 0; ; frames += 1) {
      const length = take(4);
      const payload = take(Math.min(length.readUInt32BE(), 2 * frameBytes + spareBytes));
      const { mark, content } = unpack(path, payload, { key, place: placeOf(frames) });
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

function unpack(path: string, payload: Buffer, { key, place }: { key: Buffer | null; place: string }) {
  try {
    const packed = key ? openSealed(key, payload, place) : payload;
    const frame = inflateRawSync(packed, { maxOutputLength: 64 * frameBytes });
    return { mark: frame[0], content: frame.subarray(1) };
  } catch (error) {
    throw damaged(path, key ? "it was changed, or the passphrase is another" : "its contents were changed", error);
  }
}

const damaged = (path: string, how: string, cause?: unknown): BackupProblem =>
  new BackupProblem(`${path} is damaged: ${how}. Use another backup.`, { cause });
