// The parts of Markdown links: where a destination ends and which text is only a title.
export interface Target {
  /** After the destination. */
  destinationEnd: number;
  /** The title, from the white space before it; null if there is none. */
  title: { start: number; end: number } | null;
  /** After the whole link. */
  end: number;
}

export interface LinkText {
  text: string;
  /** For each mark that closes titles: between these positions, the next one is at `end`; null if there is none. */
  closings: Map<string, { from: number; to: number; end: number | null }>;
}

export const openLinkText = (text: string): LinkText => ({ text, closings: new Map() });

/** What follows `](`: a destination, perhaps a title, and the closing bracket. */
export function readInlineTarget(links: LinkText, at: number): Target | null {
  const { text } = links;
  const start = skipSpace(text, at);
  const destinationEnd = text[start] === ")" ? start : readDestination(text, start);
  if (destinationEnd === null) return null;
  const title = readTitle(links, destinationEnd);
  const close = skipSpace(text, title?.end ?? destinationEnd);
  return text[close] === ")" ? { destinationEnd, title, end: close + 1 } : null;
}

/** What follows `[label]:`: a destination and perhaps a title, up to the end of the line. */
export function readDefinitionTarget(links: LinkText, at: number): Target | null {
  const { text } = links;
  const start = skipSpace(text, at);
  const destinationEnd = readDestination(text, start);
  if (destinationEnd === null || destinationEnd === start) return null;
  const title = readTitle(links, destinationEnd);
  const end = lineEnd(text, title?.end ?? destinationEnd);
  if (end !== null) return { destinationEnd, title, end };
  const bare = lineEnd(text, destinationEnd);
  return bare === null ? null : { destinationEnd, title: null, end: bare };
}

const maxBrackets = 32;

function readDestination(text: string, at: number): number | null {
  if (text[at] === "<") {
    const close = matchAt(/<(?:[^<>\n\\]|\\.)*>/y, text, at);
    return close ? at + close[0].length : null;
  }
  let depth = 0;
  for (let index = at; ; index += 1) {
    const character = text[index];
    if (character === undefined || character <= " ") return index;
    if (character === "\\") index += 1;
    if (character === "(" && ++depth > maxBrackets) return null;
    if (character === ")" && --depth < 0) return index;
  }
}

const closing: Record<string, string> = { '"': '"', "'": "'", "(": ")" };

/** A title needs white space before it and may span lines, but not an empty one. */
function readTitle(links: LinkText, at: number): { start: number; end: number } | null {
  const { text, closings } = links;
  const open = skipSpace(text, at);
  const close = closing[text[open] ?? ""];
  if (open === at || close === undefined) return null;
  // Of many titles that seem to begin before the same end, each would be read up to there.
  const known = closings.get(close);
  const isKnown = known !== undefined && known.from <= open && open < known.to;
  const found = isKnown ? known : { from: open, ...findClosing(text, open + 1, close) };
  closings.set(close, found);
  return found.end === null ? null : { start: at, end: found.end + 1 };
}

/** Within the paragraph; `to` is where the search ended. */
function findClosing(text: string, from: number, close: string): { to: number; end: number | null } {
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (character === close) return { to: index, end: index };
    if (character === "\\") index += 1;
    if (character === "\n" && text[index + 1] === "\n") return { to: index, end: null };
  }
  return { to: text.length, end: null };
}

/** After white space, which may contain one line end. */
function skipSpace(text: string, at: number): number {
  return at + (matchAt(/[ \t]*\n?[ \t]*/y, text, at)?.[0].length ?? 0);
}

/** After the line end, if only white space precedes it. */
function lineEnd(text: string, at: number): number | null {
  const rest = matchAt(/[ \t]*(?:\n|$)/y, text, at);
  return rest ? at + rest[0].length : null;
}

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
