// The head of the audit log in a file outside of the database, with a code that only the key-encryption key can make:
// whoever rewrites the log there cannot rewrite it here.
import { randomUUID, timingSafeEqual } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyEncryption } from "../vault/index.ts";
import { type Head, headText, readHead } from "./chain.ts";

export type Anchor =
  /** No server has kept one, or it was removed. */
  | { kind: "none" }
  | { kind: "kept"; head: Head }
  /** By an earlier version, which made no code. */
  | { kind: "unproved"; head: Head }
  /** The code is not of this key, or the file is no anchor at all. */
  | { kind: "forged" };

export type AnchorKey = Pick<KeyEncryption, "authenticate">;

export const anchorFile = (dataDirectory: string): string => join(dataDirectory, "audit-head");

/** Without a key nobody can say whether a code is right: the head is as good as one that has none. */
export async function readAnchor(dataDirectory: string, key: AnchorKey | null): Promise<Anchor> {
  const text = await readIfThere(anchorFile(dataDirectory));
  if (text === null) return { kind: "none" };
  const [first = "", ...codes] = text.trimEnd().split("\n");
  const head = readHead(first);
  if (head === null) return { kind: "forged" };
  if (codes.length === 0 || key === null) return { kind: "unproved", head };
  const expected = Buffer.from(await codeOf(head, key));
  const isExpected = (code: Buffer) => code.length === expected.length && timingSafeEqual(code, expected);
  const isOurs = codes.some((code) => isExpected(Buffer.from(code)));
  return isOurs ? { kind: "kept", head } : { kind: "forged" };
}

/** With a code for each key: while the key is changed, either may turn out to be the right one. */
export async function writeAnchor(dataDirectory: string, head: Head, keys: AnchorKey[]): Promise<void> {
  const codes = await Promise.all(keys.map((key) => codeOf(head, key)));
  // Servers in containers may have one number and one directory.
  const draft = `${anchorFile(dataDirectory)}.${randomUUID()}`;
  await writeFile(draft, `${[headText(head), ...codes].join("\n")}\n`, { mode: 0o600, flush: true });
  await rename(draft, anchorFile(dataDirectory));
}

/** What the former key proved, the next one proves too. */
export async function proveWithBoth(dataDirectory: string, former: AnchorKey, next: AnchorKey): Promise<void> {
  const anchor = await readAnchor(dataDirectory, former);
  if (anchor.kind === "kept") await writeAnchor(dataDirectory, anchor.head, [former, next]);
}

const codeOf = async (head: Head, key: AnchorKey): Promise<string> =>
  (await key.authenticate(headText(head), "head of the audit log")).toString("hex");

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
