// The head of the audit log in a file outside the database, with an authentication code made by the key-encryption key:
// write access to the database is not enough to forge it.
import { randomUUID, timingSafeEqual } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyEncryption } from "../../foundation/index.ts";
import { type Head, headText, readHead } from "./chain.ts";

export type Anchor =
  /** Never written, or removed. */
  | { kind: "none" }
  /** `begunAfter`: entries up to this one were there before the anchor, which proves nothing about them. */
  | { kind: "kept"; head: Head; begunAfter: number }
  /** Written by an earlier version, without a code. */
  | { kind: "unproved"; head: Head }
  /** The code does not match this key, or the file is not an anchor. */
  | { kind: "forged" };

export type AnchorKey = Pick<KeyEncryption, "authenticate">;

export const anchorFile = (dataDirectory: string): string => join(dataDirectory, "audit-head");

/** Without a key the code cannot be checked: the head counts as one without a code. */
export async function readAnchor(dataDirectory: string, key: AnchorKey | null): Promise<Anchor> {
  const text = await readIfThere(anchorFile(dataDirectory));
  if (text === null) return { kind: "none" };
  const [first = "", ...rest] = text.trimEnd().split("\n");
  const head = readHead(first);
  if (head === null) return { kind: "forged" };
  const begun = /^begun after (\d{1,15})$/.exec(rest[0] ?? "");
  const codes = begun ? rest.slice(1) : rest;
  if (codes.length === 0 || key === null) return { kind: "unproved", head };
  const begunAfter = Number(begun?.[1] ?? 0);
  const expected = Buffer.from(await codeOf({ head, begunAfter }, key));
  const isExpected = (code: Buffer) => code.length === expected.length && timingSafeEqual(code, expected);
  const isOurs = codes.some((code) => isExpected(Buffer.from(code)));
  return isOurs ? { kind: "kept", head, begunAfter } : { kind: "forged" };
}

export interface AnchorContent {
  head: Head;
  begunAfter: number;
}

/** Writes one code per key: during a rotation either key may turn out to be the current one. */
export async function writeAnchor(dataDirectory: string, content: AnchorContent, keys: AnchorKey[]): Promise<void> {
  const codes = await Promise.all(keys.map((key) => codeOf(content, key)));
  // Servers in containers may share a process id and a directory.
  const draft = `${anchorFile(dataDirectory)}.${randomUUID()}`;
  await writeFile(draft, `${[...linesOf(content), ...codes].join("\n")}\n`, { mode: 0o600, flush: true });
  await rename(draft, anchorFile(dataDirectory));
}

/** During a key rotation: an anchor proved with the former key is proved with both. */
export async function authenticateWithBoth(dataDirectory: string, former: AnchorKey, next: AnchorKey): Promise<void> {
  const anchor = await readAnchor(dataDirectory, former);
  if (anchor.kind === "kept") await writeAnchor(dataDirectory, anchor, [former, next]);
}

const linesOf = ({ head, begunAfter }: AnchorContent): string[] => [
  headText(head),
  ...(begunAfter > 0 ? [`begun after ${begunAfter}`] : []),
];

const codeOf = async (content: AnchorContent, key: AnchorKey): Promise<string> =>
  (await key.authenticate(linesOf(content).join("\n"), "head of the audit log")).toString("hex");

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
