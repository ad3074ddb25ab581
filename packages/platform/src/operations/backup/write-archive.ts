// Writes a backup as one file. With a passphrase every frame is sealed; without one the key-encryption key authenticates
// the whole. The last frame holds a hash of everything before it.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { type KeyEncryption, seal } from "../../foundation/index.ts";
import {
  type ArchiveFacts,
  codeOf,
  currentVersion,
  deriveKey,
  frameBytes,
  frameContext,
  marks,
  type Section,
} from "./format.ts";

export interface ArchiveWriter {
  /** Ends the previous section. */
  begin(section: Section): void;
  write(piece: Buffer): void;
  /** Flushes everything to disk. */
  finish(): Promise<void>;
  /** Leaves an incomplete file. */
  abandon(): void;
}

export interface ArchiveKeys {
  passphrase: string | null;
  /** Used without a passphrase. */
  key: KeyEncryption;
}

const compression = { level: 1 };

export function createArchive(
  path: string,
  facts: Omit<ArchiveFacts, "format" | "formatVersion" | "salt">,
  { passphrase, key }: ArchiveKeys,
): ArchiveWriter {
  const salt = passphrase === null ? null : randomBytes(16).toString("base64");
  const sealingKey = passphrase === null || salt === null ? null : deriveKey(passphrase, salt);
  const form = { format: "platform-backup", formatVersion: currentVersion } as const;
  const header = Buffer.from(`${JSON.stringify({ ...form, ...facts, salt } satisfies ArchiveFacts)}\n`);
  const contextOf = frameContext({ header, version: currentVersion });
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
    const payload = sealingKey ? seal(sealingKey, packed, contextOf(frames)) : packed;
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
  writeBytes(header);
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
    async finish() {
      flush();
      const all = digest.copy().digest();
      writeFrame(marks.end, sealingKey ? all : Buffer.concat([all, await codeOf(all, key)]));
      fsyncSync(file);
      closeSync(file);
    },
    abandon: () => closeSync(file),
  };
}
