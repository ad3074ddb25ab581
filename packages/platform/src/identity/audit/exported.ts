// The audit log as a file: one line per entry, and a last line with the head.
import { createReadStream } from "node:fs";
import type { ExitName } from "@agentcli/protocol/exit-codes";
import type { AuditLink, AuditLog, Head } from "./chain.ts";

export class UnreadableExport extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "failed";
  override name = "UnreadableExport";
}

export async function* exportLines(log: AuditLog): AsyncGenerator<string> {
  for await (const link of log.links()) yield formatLine({ kind: "link", link });
  const head = await log.head();
  if (head) yield formatLine({ kind: "head", head });
}

/** Reads the file twice: the head first, then the entries. */
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

type Line = { kind: "link"; link: AuditLink } | { kind: "head"; head: Head };

/** The only accepted form of a line: any differing byte counts as tampering. */
function formatLine(line: Line): string {
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
    if (!line || isOver || !bytes.equals(Buffer.from(formatLine(line))))
      throw new UnreadableExport(`${path}:${number}: not a line of an exported audit log.`);
    isOver = line.kind === "head";
    yield line;
  }
}

/** Each line with its newline; the last has none if the file was truncated. */
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
      return isHead(head) ? { kind: "head", head: { seq: head.seq, hash: Buffer.from(head.hash, "hex") } } : null;
    if (!isHead(link) || typeof link.entry !== "string") return null;
    return { kind: "link", link: { seq: link.seq, entry: link.entry, hash: Buffer.from(link.hash, "hex") } };
  } catch {
    return null;
  }
}

const isHead = ({ seq, hash }: Record<string, unknown>): boolean =>
  Number.isSafeInteger(seq) && typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);

const hexOf = ({ hash }: AuditLink | Head): string => hash.toString("hex");
