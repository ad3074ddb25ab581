// Separates code, comments and quoted text of a TypeScript file without a parser: the compiler we use has no JavaScript API.

export interface SourceViews {
  /** Same length and lines; comments and the inside of strings, templates and regular expressions are blanks. */
  code: string;
  /** Same length and lines; everything but comments is blanks. */
  comments: string;
}

/** Several checks ask for the same file. */
const views = new Map<string, SourceViews>();

export function viewSource(source: string): SourceViews {
  const known = views.get(source) ?? readViews(source);
  views.set(source, known);
  return known;
}

function readViews(source: string): SourceViews {
  const code = [...blanksFor(source)];
  const comments = [...blanksFor(source)];
  for (const { kind, from, to } of scan(source)) {
    const target = kind === "comment" ? comments : code;
    for (let at = from; at < to; at++) target[at] = source[at] ?? " ";
  }
  return { code: code.join(""), comments: comments.join("") };
}

/** The 1-based line of a position. */
export function lineAt(source: string, position: number): number {
  let lines = 1;
  for (let at = source.indexOf("\n"); at >= 0 && at < position; at = source.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

const blanksFor = (source: string): string => source.replace(/[^\n]/g, " ");

type Piece = { kind: "code" | "comment"; from: number; to: number };

/** Pieces of code and comments in order; the text between them is quoted. Only the quotation marks count as code. */
function* scan(source: string): Generator<Piece> {
  // One entry per open template expression: the number of open braces in it.
  const holes: number[] = [];
  let significant = "";
  for (let at = 0; at < source.length; ) {
    const endsHole = source[at] === "}" && holes.at(-1) === 0;
    const { kind, end }: Token = endsHole
      ? { kind: "quoted", end: endOfTemplateText(source, at + 1) }
      : token(source, at, significant);
    if (kind !== "quoted") yield { kind, from: at, to: end };
    else
      yield* [
        { kind: "code" as const, from: at, to: at + 1 },
        { kind: "code" as const, from: end - 1, to: end },
      ];
    const text = source.slice(at, end);
    if (kind === "code" && text.trim() !== "") significant = text;
    if (kind === "quoted") significant = text.endsWith("${") ? "{" : '"';
    countBraces(holes, endsHole, text);
    at = end;
  }
}

function countBraces(holes: number[], endsHole: boolean, text: string): void {
  if (endsHole) holes.pop();
  if ((endsHole || text.startsWith("`")) && text.endsWith("${")) holes.push(0);
  const open = holes.at(-1);
  if (open !== undefined && text === "{") holes[holes.length - 1] = open + 1;
  if (open !== undefined && text === "}" && !endsHole) holes[holes.length - 1] = open - 1;
}

type Token = { kind: "code" | "comment" | "quoted"; end: number };

function token(source: string, at: number, significant: string): Token {
  const two = source.slice(at, at + 2);
  if (two === "//") return { kind: "comment", end: indexOrEnd(source, "\n", at) };
  if (two === "/*") return { kind: "comment", end: Math.min(source.length, indexOrEnd(source, "*/", at + 2) + 2) };
  const one = source[at] ?? "";
  if (one === '"' || one === "'")
    return { kind: "quoted", end: match(source, at, one === '"' ? doubleQuoted : singleQuoted) };
  if (one === "/" && regexMayFollow(significant)) {
    const end = match(source, at, regex);
    return { kind: end > at + 1 ? "quoted" : "code", end };
  }
  if (one === "`") return { kind: "quoted", end: endOfTemplateText(source, at + 1) };
  return { kind: "code", end: match(source, at, wordOrSpace) };
}

const doubleQuoted = /"(?:[^"\\\n]|\\[\s\S])*"?/y;
const singleQuoted = /'(?:[^'\\\n]|\\[\s\S])*'?/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const wordOrSpace = /[\w$]+|\s+/y;

function match(source: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return at + Math.max(1, pattern.exec(source)?.[0].length ?? 1);
}

/** The position after the closing backtick, or after the next `${`. */
function endOfTemplateText(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "`") return at + 1;
    else if (source.startsWith("${", at)) return at + 2;
  }
  return source.length;
}

const indexOrEnd = (source: string, text: string, from: number): number => {
  const found = source.indexOf(text, from);
  return found < 0 ? source.length : found;
};

/** A slash after a value divides; elsewhere it opens a regular expression. */
const regexMayFollow = (significant: string): boolean =>
  /^(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield)$/.test(significant) ||
  !/[\w$)\]"'`]$/.test(significant);
