// The format of a backup: a header line, then frames. Every header and section is validated against these schemas.
// Version 1 differs in what its frames are bound to; versions above 2 are unknown.
import { createHash, scryptSync } from "node:crypto";
import { normalize } from "node:path";
import { z } from "zod";
import type { KeyEncryption } from "../../foundation/index.ts";
import { BackupError } from "./backup-error.ts";

export const currentVersion = 2;

const name = z.string().regex(/^[\w-]{1,63}$/);
/** Longer paths are not written: with the name of the data directory they must be short enough for the kernel. */
export const maxPathBytes = 3072;
/** Of the kernel. */
const maxNameBytes = 255;
const path = z.string().max(4096).refine(isPlainPath, "not a path below the data directory");
const modeOf = (max: number) => z.int().min(0).max(max);

export const ArchiveFacts = z.strictObject({
  format: z.literal("platform-backup"),
  formatVersion: z.union([z.literal(1), z.literal(currentVersion)]),
  platformVersion: z.string().regex(/^[\w.+-]{1,64}$/),
  createdAt: z.iso.datetime(),
  /** Migrations applied to the tables. */
  migrations: z.array(name).max(1000),
  /** Some files contain absolute paths below it. */
  dataDirectory: z.string().max(4096),
  kekFingerprint: z.string().regex(/^[0-9a-f]{32}$/),
  /** Of a key that a service keeps, as that encrypted it. */
  kekAuthenticationKey: z.base64().max(8192).optional(),
  /** Null: not sealed, without private keys, and authenticated with the key-encryption key. */
  salt: z
    .string()
    .regex(/^[A-Za-z0-9+/]{22}==$/)
    .nullable(),
});
export type ArchiveFacts = z.infer<typeof ArchiveFacts>;

/** Version 1 stored set-id bits of agents' files. */
const sectionSchema = (mode: z.ZodInt) =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("table"), name, columns: z.array(name).min(1).max(1000) }),
    z.strictObject({ kind: z.literal("sequence"), name, lastValue: z.string().regex(/^\d{1,19}$/) }),
    z.strictObject({ kind: z.literal("file"), path, mode }),
    z.strictObject({ kind: z.literal("directory"), path, mode }),
    z.strictObject({ kind: z.literal("link"), path, target: z.string().min(1).max(4096).refine(hasNoZero) }),
    z.strictObject({ kind: z.literal("audit-head") }),
    z.strictObject({ kind: z.literal("kek") }),
  ]);

const schemas = { 1: sectionSchema(modeOf(0o7777)), [currentVersion]: sectionSchema(modeOf(0o777)) };
export type Section = z.infer<ReturnType<typeof sectionSchema>>;
export type FileSection = Extract<Section, { path: string }>;
export type ArchiveEvent = { kind: "section"; section: Section } | { kind: "data"; piece: Buffer };

export function readSection(text: string, version: ArchiveFacts["formatVersion"]): Section {
  const { data } = schemas[version].safeParse(parseJson(text));
  if (data) return "mode" in data ? { ...data, mode: data.mode & 0o777 } : data;
  throw new BackupError(`The backup contains ${printable(text)}, which no platform writes. Use another backup.`);
}

/** Without control characters: the text may be an attacker's. */
export const printable = (text: string): string => JSON.stringify(text.slice(0, 200));

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasNoZero(text: string): boolean {
  return !text.includes("\0");
}

function isPlainPath(text: string): boolean {
  const names = text.split("/");
  const isName = (part: string) => !["", ".", ".."].includes(part) && Buffer.byteLength(part) <= maxNameBytes;
  return hasNoZero(text) && normalize(text) === text && names.every(isName);
}

/** Limit of the header line, and of what compression and sealing may add to a frame. */
export const overheadBytes = 64 * 1024;
export const frameBytes = 1024 * 1024;
/** First byte of a frame. */
export const marks = { section: 1, data: 2, end: 3 };

/** What a frame is bound to: its number and, since version 2, the header. */
export function frameContext({ header, version }: { header: Buffer; version: number }): (frame: number) => string {
  if (version === 1) return (frame) => `backup:${frame}`;
  const hash = createHash("sha256").update(header).digest("hex");
  return (frame) => `backup:${hash}:${frame}`;
}

/** Authenticates an archive that is not sealed; `digest` covers its header and all frames. */
export const codeOf = (digest: Buffer, key: KeyEncryption): Promise<Buffer> =>
  key.authenticate(digest.toString("hex"), "backup without a passphrase");

export const deriveKey = (passphrase: string, salt: string): Buffer =>
  scryptSync(passphrase.normalize("NFC"), Buffer.from(salt, "base64"), 32, {
    N: 2 ** 16,
    r: 8,
    p: 1,
    maxmem: 128 * 1024 * 1024,
  });
