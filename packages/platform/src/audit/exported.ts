// The audit log as a file: a line for each entry, and one that says where it ends.
import { createReadStream } from "node:fs";
import type { AuditLog, Head, Link } from "./chain.ts";

export class UnreadableExport extends Error {
  override name = "UnreadableExport";
}

export async function* exportLines(log: AuditLog): AsyncGenerator<string> {
  for await (const link of log.links()) yield written({ kind: "link", link });
  const head = await log.head();
  if (head) yield written({ kind: "head", head });
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

/** One way to write each line: a byte that is another is a change, whatever it would mean. */
function written(line: Line): string {
  if (line.kind === "head") return `${JSON.stringify({ head: { seq: line.head.seq, hash: hexOf(line.head) } })}\n`;
  const { seq, entry } = line.link;
  return `${JSON.stringify({ seq, hash: hexOf(line.link), entry })}\n`;
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  let number = 0;
  let isOver = false;
  for await (const bytes of splitAtNewlines(createReadStream(path))) {
    number += 1;
    const line = readLine(bytes.toString("utf8"));
    if (!line || isOver || !bytes.equals(Buffer.from(written(line))))
      throw new UnreadableExport(`${path}:${number} is no line of an exported audit log.`);
    isOver = line.kind === "head";
    yield line;
  }
}

/** Each with its newline; the last has none where the file was cut off. */
async function* splitAtNewlines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end + 1)]);
      pieces = [];
      from = end + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

const newline = 0x0a;

function readLine(text: string): Line | null {
  try {
    const { head, ...link } = JSON.parse(text);
    if (head)
      return isPlace(head) ? { kind: "head", head: { seq: head.seq, hash: Buffer.from(head.hash, "hex") } } : null;
    if (!isPlace(link) || typeof link.entry !== "string") return null;
    return { kind: "link", link: { seq: link.seq, entry: link.entry, hash: Buffer.from(link.hash, "hex") } };
  } catch {
    return null;
  }
}

const isPlace = ({ seq, hash }: Record<string, unknown>): boolean =>
  Number.isSafeInteger(seq) && typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);

const hexOf = ({ hash }: Link | Head): string => hash.toString("hex");
