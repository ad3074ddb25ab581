// Parses one HTML tag. Each position is visited a bounded number of times, however many tags seem to begin there.
export interface Attribute {
  /** In lower case. */
  name: string;
  value: string;
  /** As written, with the white space before it. */
  source: string;
}

export interface Tag {
  kind: "open" | "close";
  /** In lower case. */
  name: string;
  attributes: Attribute[];
  /** The name as written. */
  written: string;
  /** The text after the last attribute, up to `>`. */
  ending: string;
  start: number;
  /** After the tag. */
  end: number;
}

export interface TagReader {
  text: string;
  /** The tag that begins at this `<`, or null if it is only a character. */
  read(at: number): Tag | null;
}

export function openTagReader(text: string): TagReader {
  const deadEnds = new Set<number>();
  return {
    text,
    read(at) {
      const head = matchAt(opening, text, at);
      if (!head) return null;
      const parsed = readAttributes(text, at + head[0].length, deadEnds);
      if (!parsed) return null;
      const written = head[2] ?? "";
      const kind = head[1] === "/" ? "close" : "open";
      return { kind, name: written.toLowerCase(), written, start: at, ...parsed };
    },
  };
}

const opening = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)(?=[\s/>])/y;
const space = /[\s/]*/y;
const attributeName = /[^\s/><="'][^\s/><=]*/y;
const assignment = /\s*=\s*/y;
const unquoted = /[^\s"'=<>`][^\s<>]*/y;

/** `deadEnds` are positions from which no tag can be completed: later attempts that reach one fail at once. */
function readAttributes(text: string, from: number, deadEnds: Set<number>) {
  const attributes: Attribute[] = [];
  const visited: number[] = [];
  let at = from;
  for (;;) {
    if (deadEnds.has(at)) break;
    visited.push(at);
    const before = matchAt(space, text, at)?.[0] ?? "";
    const start = at + before.length;
    if (text[start] === ">") return { attributes, ending: `${before}>`, end: start + 1 };
    const attribute = readAttribute(text, start);
    if (!attribute) break;
    attributes.push({ ...attribute, source: before.replace(/\//g, " ") + text.slice(start, attribute.end) });
    at = attribute.end;
  }
  for (const position of visited) deadEnds.add(position);
  return null;
}

function readAttribute(text: string, at: number): { name: string; value: string; end: number } | null {
  const name = matchAt(attributeName, text, at)?.[0];
  if (name === undefined) return null;
  const afterName = at + name.length;
  const assigned = matchAt(assignment, text, afterName)?.[0];
  if (assigned === undefined) return { name: name.toLowerCase(), value: "", end: afterName };
  const valueAt = afterName + assigned.length;
  const quote = text[valueAt];
  if (quote === '"' || quote === "'") {
    const close = text.indexOf(quote, valueAt + 1);
    return close === -1 ? null : { name: name.toLowerCase(), value: text.slice(valueAt + 1, close), end: close + 1 };
  }
  const value = matchAt(unquoted, text, valueAt)?.[0];
  return value === undefined ? null : { name: name.toLowerCase(), value, end: valueAt + value.length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
