// The audit log as a file: a line for each entry, and one that says where it ends.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { AuditLog, Head, Link } from "./chain.ts";

export class UnreadableExport extends Error {
  override name = "UnreadableExport";
}

export async function* exportLines(log: AuditLog): AsyncGenerator<string> {
  for await (const { seq, entry, hash } of log.links())
    yield `${JSON.stringify({ seq, hash: hash.toString("hex"), entry })}\n`;
  const head = await log.head();
  if (head) yield `${JSON.stringify({ head: { seq: head.seq, hash: head.hash.toString("hex") } })}\n`;
}

/** Reads it twice: the end first, then the entries. */
export function openExport(path: string): AuditLog {
  return {
    async *links() {
      for await (const line of linesOf(path)) if (line.kind === "link") yield line.link;
    },
    async head() {
      let last: Line | null = null;
      for await (const line of linesOf(path)) last = line;
      return last?.kind === "head" ? last.head : null;
    },
  };
}

type Line = { kind: "link"; link: Link } | { kind: "head"; head: Head };

async function* linesOf(path: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1;
    const line = readLine(text);
    if (!line) throw new UnreadableExport(`${path}:${number} is no line of an exported audit log.`);
    yield line;
  }
}

export function readLine(text: string): Line | null {
  try {
    const { head, ...link } = JSON.parse(text);
    if (head) return isPlace(head) ? { kind: "head", head: { seq: head.seq, hash: hexOf(head.hash) } } : null;
    if (!isPlace(link) || typeof link.entry !== "string") return null;
    return { kind: "link", link: { seq: link.seq, entry: link.entry, hash: hexOf(link.hash) } };
  } catch {
    return null;
  }
}

const isPlace = ({ seq, hash }: Record<string, unknown>): boolean =>
  Number.isSafeInteger(seq) && typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);

const hexOf = (text: string): Buffer => Buffer.from(text, "hex");
