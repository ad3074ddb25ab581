// The audit log as a hash chain: each hash covers the previous hash and its entry. Pure: needs no database and no key.
import { createHash } from "node:crypto";

export interface AuditLink {
  seq: number;
  /** JSON, as it was hashed. */
  entry: string;
  hash: Buffer;
}

/** Where a chain ends. */
export interface Head {
  seq: number;
  hash: Buffer;
}

export type Verdict =
  | { kind: "whole"; head: Head }
  /** `seq` is the first entry that differs from what was written. */
  | { kind: "broken"; seq: number; reason: string };

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The head of an empty log. */
export const emptyHead: Head = { seq: 0, hash: sha256("platform audit log") };

export interface AuditLog {
  links(): AsyncIterable<AuditLink>;
  /** The recorded head of the log; null where none is recorded. */
  head(): Promise<Head | null>;
}

/** Reports the first defect in chain order. `expectedHeads` were recorded at earlier checks. */
export async function verifyLog(log: AuditLog, expectedHeads: Head[]): Promise<Verdict> {
  const head = await log.head();
  let last = emptyHead;
  for await (const link of log.links()) {
    const reason = findBreak(link, last) ?? contradiction(link, expectedHeads);
    if (reason) return { kind: "broken", seq: last.seq + 1, reason };
    last = link;
  }
  const missing = Math.max(head?.seq ?? 0, ...expectedHeads.map(({ seq }) => seq)) - last.seq;
  if (missing > 0) return { kind: "broken", seq: last.seq + 1, reason: `the last ${missing} entries are missing` };
  if (head === null) return { kind: "broken", seq: last.seq + 1, reason: "the head of the log is missing" };
  if (head.seq !== last.seq || !head.hash.equals(last.hash))
    return { kind: "broken", seq: last.seq, reason: "the head of the log does not match its last entry" };
  return { kind: "whole", head: { seq: last.seq, hash: last.hash } };
}

/** Why the link does not follow `last`; null where it does. */
export function findBreak({ seq, entry, hash }: AuditLink, last: Head): string | null {
  if (seq !== last.seq + 1) return `entry ${last.seq + 1} is missing`;
  if (!sha256(last.hash, entry).equals(hash)) return "the entry, its hash or the previous hash was changed";
  if (numberIn(entry) !== seq) return "the number inside the entry differs";
  return null;
}

const contradiction = (link: AuditLink, expectedHeads: Head[]): string | null =>
  expectedHeads.some(({ seq, hash }) => seq === link.seq && !hash.equals(link.hash))
    ? "the log differs from the head recorded earlier"
    : null;

function numberIn(entry: string): unknown {
  try {
    return JSON.parse(entry).seq;
  } catch {
    return null;
  }
}

/** `12:0f3c…`: the form that users copy and pass to `audit verify --expect`. */
export const headText = ({ seq, hash }: Head): string => `${seq}:${hash.toString("hex")}`;

export function readHead(text: string): Head | null {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash: Buffer.from(hash, "hex") };
}
