// Reads DNS queries and writes their answers. Pure. Queries are hostile: whatever is not a plain query is undefined or invalid.

export interface Query {
  id: number;
  /** In lower case, without a final dot; bytes that names of hosts do not have are escaped as \ddd. */
  name: string;
  type: number;
  /** With the case of the letters, as clients compare it. */
  question: Buffer;
  isRecursionDesired: boolean;
}

export type QueryReading =
  | { kind: "query"; query: Query }
  | { kind: "invalid"; answer: Buffer }
  /** Not to be answered: it may be an answer itself. */
  | { kind: "ignored" };

export type Answer =
  | { kind: "address"; address: string }
  /** The name exists, and has no records of this type. */
  | { kind: "empty" }
  | { kind: "no-such-name" }
  | { kind: "failed" };

export const addressType = 1;

const headerBytes = 12;
const maxNameBytes = 255;
const internetClass = 1;
const codes = { none: 0, formatError: 1, serverFailure: 2, noSuchName: 3, notImplemented: 4 };
/** Short: addresses are assigned anew once there are many names. */
const timeToLive = 30;

export function readQuery(bytes: Buffer): QueryReading {
  if (bytes.length < headerBytes) return { kind: "ignored" };
  const [id, flags] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
  if (flags & 0x8000) return { kind: "ignored" };
  const isRecursionDesired = (flags & 0x0100) !== 0;
  const invalid = (code: number): QueryReading => ({
    kind: "invalid",
    answer: header({ id, isRecursionDesired }, { code, questions: 0, answers: 0 }),
  });
  if ((flags >> 11) & 0xf) return invalid(codes.notImplemented);
  if (bytes.readUInt16BE(4) !== 1) return invalid(codes.formatError);
  const read = readName(bytes);
  if (read === undefined || read.end + 4 > bytes.length) return invalid(codes.formatError);
  if (bytes.readUInt16BE(read.end + 2) !== internetClass) return invalid(codes.notImplemented);
  const question = Buffer.from(bytes.subarray(headerBytes, read.end + 4));
  const type = bytes.readUInt16BE(read.end);
  return { kind: "query", query: { id, name: read.name, type, question, isRecursionDesired } };
}

export function writeAnswer(query: Query, answer: Answer): Buffer {
  const count = answer.kind === "address" ? 1 : 0;
  const head = header(query, { code: codeOf(answer), questions: 1, answers: count });
  return Buffer.concat([head, query.question, ...(answer.kind === "address" ? [addressRecord(answer.address)] : [])]);
}

function codeOf({ kind }: Answer): number {
  switch (kind) {
    case "address":
    case "empty":
      return codes.none;
    case "no-such-name":
      return codes.noSuchName;
    case "failed":
      return codes.serverFailure;
  }
}

/** Undefined for a name that is compressed, too long or cut off. */
function readName(bytes: Buffer): { name: string; end: number } | undefined {
  const labels: string[] = [];
  for (let at = headerBytes; at < bytes.length && at - headerBytes < maxNameBytes; ) {
    const length = bytes.readUInt8(at);
    if (length === 0) return { name: labels.join("."), end: at + 1 };
    if (length > 63 || at + 1 + length > bytes.length) return undefined;
    labels.push(labelText(bytes.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return undefined;
}

const labelText = (label: Buffer): string =>
  label
    .toString("latin1")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, (sign) => `\\${String(sign.charCodeAt(0)).padStart(3, "0")}`);

interface Counts {
  code: number;
  questions: number;
  answers: number;
}

function header({ id, isRecursionDesired }: Pick<Query, "id" | "isRecursionDesired">, counts: Counts): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(0x8080 | (isRecursionDesired ? 0x0100 : 0) | counts.code, 2);
  bytes.writeUInt16BE(counts.questions, 4);
  bytes.writeUInt16BE(counts.answers, 6);
  return bytes;
}

/** Its name is that of the question. */
function addressRecord(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xc000 | headerBytes, 0);
  bytes.writeUInt16BE(addressType, 2);
  bytes.writeUInt16BE(internetClass, 4);
  bytes.writeUInt32BE(timeToLive, 6);
  bytes.writeUInt16BE(4, 10);
  bytes.set(address.split(".").map(Number), 12);
  return bytes;
}
