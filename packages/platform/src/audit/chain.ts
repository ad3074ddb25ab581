// The audit log as a chain: each hash holds the one before it and its entry. Pure; needs neither database nor key.
import { createHash } from "node:crypto";

export interface Link {
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
  /** `seq` is that of the first entry that is not as it was written. */
  | { kind: "broken"; seq: number; reason: string };

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** What stands before the first entry. */
export const beginning: Head = { seq: 0, hash: sha256("platform audit log") };

export interface AuditLog {
  links(): AsyncIterable<Link>;
  /** What the log says about its own end; null where it says nothing. */
  head(): Promise<Head | null>;
}

/** The first thing that is wrong, in the order of the chain. `known` are heads that somebody kept from an earlier look. */
export async function verifyLog(log: AuditLog, known: Head[]): Promise<Verdict> {
  const head = await log.head();
  let last = beginning;
  for await (const link of log.links()) {
    const reason = faultOf(link, last) ?? contradiction(link, known);
    if (reason) return { kind: "broken", seq: last.seq + 1, reason };
    last = link;
  }
  const missing = Math.max(head?.seq ?? 0, ...known.map(({ seq }) => seq)) - last.seq;
  if (missing > 0)
    return { kind: "broken", seq: last.seq + 1, reason: `the last ${missing} of the entries are missing` };
  if (head === null) return { kind: "broken", seq: last.seq + 1, reason: "the end of the log is not marked" };
  if (head.seq !== last.seq || !head.hash.equals(last.hash))
    return { kind: "broken", seq: last.seq, reason: "the mark of the end of the log is another than its last entry" };
  return { kind: "whole", head: { seq: last.seq, hash: last.hash } };
}

/** Why it does not follow upon the last one; null where it does. */
export function faultOf({ seq, entry, hash }: Link, last: Head): string | null {
  if (seq !== last.seq + 1) return `entry ${last.seq + 1} is missing`;
  if (!sha256(last.hash, entry).equals(hash)) return "the entry, its hash or the one before was changed";
  if (numberIn(entry) !== seq) return "the entry says that it has another number";
  return null;
}

const contradiction = (link: Link, known: Head[]): string | null =>
  known.some(({ seq, hash }) => seq === link.seq && !hash.equals(link.hash))
    ? "the log was another when its head was kept"
    : null;

function numberIn(entry: string): unknown {
  try {
    return JSON.parse(entry).seq;
  } catch {
    return null;
  }
}

/** `12:0f3c…`, as people keep it. */
export const headText = ({ seq, hash }: Head): string => `${seq}:${hash.toString("hex")}`;

export function readHead(text: string): Head | null {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text.trim()) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash: Buffer.from(hash, "hex") };
}
