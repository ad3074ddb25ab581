// A YAML file as values that know their line, so that every problem can name it.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

export type Located =
  | { kind: "table"; line: number; entries: { name: string; line: number; value: Located }[] }
  | { kind: "list"; line: number; items: Located[] }
  | { kind: "value"; line: number; value: string | number | boolean | null };

/** Something in a file is not as it has to be. */
export class CaseFileError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Throws CaseFileError for the first thing that is not YAML, or not of the kind that can be a test. */
export function readYaml(text: string): Located {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const reason = error.code === "MULTIPLE_DOCS" ? "only one YAML document per file" : error.message;
    throw new CaseFileError(lineOf(lines, error.pos[0]), `not valid YAML: ${reason.replace(/[.\s]+$/, "")}`);
  }
  return locate(document.contents, { document, lines, left: maxValues }, 0);
}

const maxDepth = 30;
/** Aliases can make a small file large. */
const maxValues = 50_000;

interface Walk {
  document: Document;
  lines: LineCounter;
  left: number;
}

function locate(node: unknown, walk: Walk, depth: number): Located {
  const line = lineOf(walk.lines, rangeStart(node));
  walk.left -= 1;
  if (depth > maxDepth) throw new CaseFileError(line, `nested more than ${maxDepth} levels deep`);
  if (walk.left < 0) throw new CaseFileError(line, `more than ${maxValues} values`);
  if (isAlias(node)) return { ...locate(node.resolve(walk.document), walk, depth + 1), line };
  if (isSeq(node)) return { kind: "list", line, items: node.items.map((item) => locate(item, walk, depth + 1)) };
  if (isMap(node)) {
    const entries = node.items.map(({ key, value }) => ({
      name: keyText(key, line),
      line: lineOf(walk.lines, rangeStart(key)),
      value: locate(value, walk, depth + 1),
    }));
    // An empty value has no position of its own.
    return { kind: "table", line, entries: entries.map(withLineOfKey) };
  }
  return { kind: "value", line, value: isScalar(node) ? plain(node.value) : null };
}

const withLineOfKey = <Entry extends { line: number; value: Located }>(entry: Entry): Entry =>
  entry.value.line === 0 ? { ...entry, value: { ...entry.value, line: entry.line } } : entry;

const keyText = (key: unknown, line: number): string => {
  if (isScalar(key) && ["string", "number", "boolean"].includes(typeof key.value)) return String(key.value);
  throw new CaseFileError(line, "a key has to be a word");
};

const plain = (value: unknown): string | number | boolean | null =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;

const rangeStart = (node: unknown): number | null => {
  const { range } = (node ?? {}) as { range?: [number, number, number] | null };
  return range?.[0] ?? null;
};

const lineOf = (lines: LineCounter, position: number | null): number =>
  position === null ? 0 : Math.max(1, lines.linePos(position).line);
