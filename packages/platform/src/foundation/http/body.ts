// Reads the body of a request as JSON: bounded, valid UTF-8, declared as what it is.
import type { IncomingMessage } from "node:http";
import { ApiError } from "./api-error.ts";
import { invalid } from "./validate.ts";

export const defaultBodyLimitBytes = 1024 * 1024;

export async function readJson(incoming: IncomingMessage, limitBytes: number): Promise<{ raw: Buffer; json: unknown }> {
  checkContentType(incoming.headers["content-type"]);
  const raw = await readBody(incoming, limitBytes);
  if (raw.length === 0) throw invalid(["the body: is empty; send JSON"]);
  checkShape(raw);
  return { raw, json: parse(decode(raw)) };
}

/** The server does nothing else while it parses and validates a body. */
const maxDepth = 200;
const maxEntries = 100_000;
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openings, closings] = [
  [0x5b, 0x7b],
  [0x5d, 0x7d],
];

/** Refuses what is nested deeply or has a great many entries, however small they are. */
export function checkShape(json: Buffer): void {
  let depth = 0;
  let entries = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === comma) entries += 1;
    else if (openings.includes(byte)) depth += 1;
    else if (closings.includes(byte)) depth -= 1;
    if (depth > maxDepth) throw invalid([`the body: is nested deeper than ${maxDepth}`]);
    if (entries > maxEntries) throw invalid([`the body: has more than ${maxEntries} entries`]);
  }
}

/** Announced by its headers: a body has a length, or comes in chunks. */
export const isEmpty = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;

function checkContentType(header: string | undefined): void {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type !== "application/json" || !isUtf8)
    throw invalid([
      `the body: Content-Type must be application/json in UTF-8, not ${header ? "what was sent" : "missing"}`,
    ]);
}

/** What is too large is not kept; the rest of it is read and dropped after the answer, so that the answer arrives. */
export function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = new ApiError(
    "payload_too_large",
    `The body is larger than the ${limitBytes} bytes this route takes.`,
  );
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) return Promise.reject(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limitBytes) return chunks.push(chunk);
      incoming.off("data", onData);
      return reject(tooLarge);
    };
    incoming.on("data", onData);
    incoming.once("end", () => resolve(Buffer.concat(chunks)));
    incoming.once("close", () => reject(invalid(["the body: ended early"])));
    incoming.once("error", () => reject(invalid(["the body: ended early"])));
  });
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid(["the body: is not valid UTF-8"]);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes what was sent.
    throw invalid(["the body: is not valid JSON"]);
  }
}
