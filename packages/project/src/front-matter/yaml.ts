// The part of YAML that people write in front matter: maps, lists and scalars by indentation. No anchors, tags or documents.
import { type Reader, YamlError } from "./reader.ts";
import { readBlockScalar, readScalar, type YamlValue } from "./scalars.ts";

export type { YamlValue } from "./scalars.ts";

export type ParsedYaml =
  | { kind: "values"; values: Record<string, YamlValue>; lines: Map<string, number> }
  /** Lines are counted from 1. */
  | { kind: "problem"; line: number; message: string };

/** Never throws: what cannot be parsed is a problem with its line. */
export function parseYaml(lines: string[]): ParsedYaml {
  const reader: Reader = { lines: [...lines], at: 0, keys: new Map(), depth: 0 };
  try {
    skipBlank(reader);
    const values = reader.at < lines.length ? readMap(reader, indentOf(reader)) : {};
    skipBlank(reader);
    if (reader.at < lines.length) throw misplaced(reader);
    return { kind: "values", values, lines: reader.keys };
  } catch (error) {
    if (error instanceof YamlError) return { kind: "problem", line: error.line, message: error.message };
    throw error;
  }
}

const maxDepth = 16;
const entry = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#'"[\]{},:][^:]*)):(?=\s|$)\s*/;

function readMap(reader: Reader, indent: number): Record<string, YamlValue> {
  const values: Record<string, YamlValue> = Object.create(null);
  for (skipBlank(reader); reader.at < reader.lines.length; skipBlank(reader)) {
    const here = indentOf(reader);
    if (here < indent) break;
    const line = (reader.lines[reader.at] ?? "").slice(here);
    const key = here === indent ? entry.exec(line) : null;
    if (!key) throw misplaced(reader);
    const name = (key[1] ?? key[2] ?? key[3] ?? "").trim();
    if (name in values) throw new YamlError(reader.at + 1, `duplicate key "${name}"`);
    if (reader.depth === 0) reader.keys.set(name, reader.at + 1);
    values[name] = readValue(reader, { indent, rest: line.slice(key[0].length) });
  }
  return values;
}

interface ValueStart {
  /** Of the key or the dash of the value. */
  indent: number;
  /** What follows them on the line. */
  rest: string;
}

function readValue(reader: Reader, { indent, rest }: ValueStart): YamlValue {
  const block = /^([|>])([+-]?)\d?([+-]?)\s*(?:#.*)?$/.exec(rest);
  if (block) return readBlockScalar(reader, indent, { folded: block[1] === ">", chomp: block[2] || block[3] || "" });
  if (rest !== "" && !rest.startsWith("#")) return readScalar(reader, indent, rest);
  reader.at += 1;
  skipBlank(reader);
  if (reader.at >= reader.lines.length) return null;
  const inner = indentOf(reader);
  const isList = /^-(?:\s|$)/.test((reader.lines[reader.at] ?? "").slice(inner));
  if (inner < indent || (inner === indent && !isList)) return null;
  return nested(reader, () => (isList ? readList(reader, inner) : readMap(reader, inner)));
}

function readList(reader: Reader, indent: number): YamlValue[] {
  const items: YamlValue[] = [];
  for (skipBlank(reader); reader.at < reader.lines.length; skipBlank(reader)) {
    const here = indentOf(reader);
    const line = (reader.lines[reader.at] ?? "").slice(here);
    const dash = /^-(?:\s+|$)/.exec(line);
    if (here < indent || (here === indent && !dash)) break;
    if (!dash || here > indent) throw misplaced(reader);
    const rest = line.slice(dash[0].length);
    items.push(
      entry.test(rest) ? readMapInList(reader, here + dash[0].length, rest) : readValue(reader, { indent, rest }),
    );
  }
  return items;
}

/** `- key: value`: the dash counts as white space. */
function readMapInList(reader: Reader, indent: number, rest: string): YamlValue {
  reader.lines[reader.at] = " ".repeat(indent) + rest;
  return nested(reader, () => readMap(reader, indent));
}

function nested<Value>(reader: Reader, read: () => Value): Value {
  if (reader.depth === maxDepth) throw new YamlError(reader.at + 1, "this is nested too deeply");
  reader.depth += 1;
  const value = read();
  reader.depth -= 1;
  return value;
}

function skipBlank(reader: Reader): void {
  while (reader.at < reader.lines.length && /^\s*(?:#.*)?$/.test(reader.lines[reader.at] ?? "")) reader.at += 1;
}

function indentOf(reader: Reader): number {
  const line = reader.lines[reader.at] ?? "";
  const indent = line.length - line.trimStart().length;
  if (line.slice(0, indent).includes("\t"))
    throw new YamlError(reader.at + 1, "a tab stands where only spaces may indent");
  return indent;
}

const misplaced = (reader: Reader): YamlError => {
  const line = (reader.lines[reader.at] ?? "").trim();
  return new YamlError(reader.at + 1, `expected "key: value", found ${JSON.stringify(line.slice(0, 60))}`);
};
