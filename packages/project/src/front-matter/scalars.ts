// Values of front matter on one line or several: plain, quoted, block scalars and lists in brackets.
import { type Reader, YamlError } from "./reader.ts";

export type YamlValue = string | number | boolean | null | YamlValue[] | { [key: string]: YamlValue };

/** Reads from `rest` of the current line on and moves the reader past the value. */
export function readScalar(reader: Reader, indent: number, rest: string): YamlValue {
  const line = reader.at + 1;
  const quote = rest[0];
  if (quote === '"' || quote === "'") return readQuoted(reader, rest, quote);
  const text = readContinued(reader, indent, rest);
  if (text.startsWith("[") && text.endsWith("]")) return readFlowList(text) ?? text;
  if (text.startsWith("{") && text.endsWith("}") && /:\s/.test(text))
    throw new YamlError(line, "maps in braces are not supported; write one key a line");
  return plainValue(text);
}

/** Plain text continues on lines that are indented further. A colon within it is text. */
function readContinued(reader: Reader, indent: number, rest: string): string {
  const pieces = [withoutComment(rest)];
  reader.at += 1;
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at] ?? "";
    if (line.trim() === "" || line.length - line.trimStart().length <= indent) break;
    pieces.push(withoutComment(line.trim()));
  }
  return pieces.filter((piece) => piece !== "").join(" ");
}

const withoutComment = (text: string): string => text.replace(/(?:^|\s)#.*$/, "").trim();

function readQuoted(reader: Reader, rest: string, quote: string): string {
  const line = reader.at + 1;
  const pattern = quote === '"' ? /^"((?:[^"\\]|\\[\s\S])*)"\s*(?:#.*)?$/ : /^'((?:[^']|'')*)'\s*(?:#.*)?$/;
  let text = rest;
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const closed = pattern.exec(text);
    if (closed) {
      reader.at += 1;
      return quote === '"' ? unescapeText(closed[1] ?? "") : (closed[1] ?? "").replaceAll("''", "'");
    }
    if (text.length > maxQuoted) break;
    text += ` ${(reader.lines[reader.at + 1] ?? "").trim()}`;
  }
  throw new YamlError(line, `the text that begins with ${quote} does not end, or more stands behind it`);
}

const maxQuoted = 8_192;

const unescapeText = (text: string): string =>
  text.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))/g, (_, short, long, character) =>
    short || long ? String.fromCharCode(Number.parseInt(short ?? long, 16)) : (escapes[character] ?? character),
  );

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

interface BlockStyle {
  folded: boolean;
  /** "" keeps one line end, "-" none, "+" all. */
  chomp: string;
}

export function readBlockScalar(reader: Reader, indent: number, { folded, chomp }: BlockStyle): string {
  reader.at += 1;
  const lines: string[] = [];
  let inner: number | undefined;
  for (; reader.at < reader.lines.length; reader.at += 1) {
    const line = reader.lines[reader.at] ?? "";
    const here = line.length - line.trimStart().length;
    if (line.trim() !== "" && here <= indent) break;
    if (line.trim() !== "") inner ??= here;
    lines.push(line.slice(inner ?? 0).trimEnd());
  }
  const text = (folded ? fold(lines) : lines.join("\n")).replace(/(?<!\n)\n+$/, "");
  return chomp === "-" || text === "" ? text : `${text}\n`;
}

/** Lines of one paragraph are joined; an empty line becomes a line end. */
const fold = (lines: string[]): string =>
  lines
    .join("\n")
    .replace(/(\S)\n(?=\S)/g, "$1 ")
    .replace(/\n\n/g, "\n");

/** Null if it is not a list, such as a glob that begins and ends with brackets. */
function readFlowList(text: string): YamlValue[] | null {
  const inner = text.slice(1, -1).trim();
  if (inner === "") return [];
  const items = inner.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,'"[\]]+|[,'"[\]]/g) ?? [];
  const values: YamlValue[] = [];
  let expectsItem = true;
  for (const item of items) {
    if (/^["'[\]]$/.test(item)) return null;
    if (item === ",") expectsItem = true;
    else if (item.trim() !== "") {
      if (!expectsItem) return null;
      values.push(flowValue(item.trim()));
      expectsItem = false;
    }
  }
  return values;
}

function flowValue(item: string): YamlValue {
  if (item.startsWith('"')) return unescapeText(item.slice(1, -1));
  if (item.startsWith("'")) return item.slice(1, -1).replaceAll("''", "'");
  return plainValue(item);
}

function plainValue(text: string): YamlValue {
  if (text === "" || text === "~" || text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return /^[+-]?(?:\d+|\d+\.\d+)$/.test(text) && text.length < 16 ? Number(text) : text;
}
