// The first sentence of a Markdown text that is not a heading, as plain text for a subject or title. Pure.

export interface FirstSentence {
  /** On one line, without markup. */
  sentence: string;
  /** The text after it; the whole text if headings or code precede the sentence. */
  rest: string;
}

/** A title is far shorter; and the search is quadratic in the length of what a model can write. */
const searchedCharacters = 4_000;

/** Undefined if the beginning of the text has only headings, code, tables and rules. */
export function firstSentence(text: string): FirstSentence | undefined {
  const lines = text.slice(0, searchedCharacters).split("\n");
  const at = startOfProse(lines);
  if (at === undefined) return undefined;
  const end = lines.findIndex((line, index) => index > at && (line.trim() === "" || isBlockStart(line)));
  const paragraph = lines.slice(at, end === -1 ? undefined : end).join("\n");
  const raw = paragraph.slice(0, sentenceLength(paragraph));
  const sentence = plain(raw);
  if (sentence === "") return undefined;
  const isAtStart = lines.slice(0, at).every((line) => line.trim() === "");
  const after = text.slice(lines.slice(0, at).join("\n").length + (at === 0 ? 0 : 1) + raw.length).trim();
  return { sentence, rest: isAtStart ? after : text };
}

function startOfProse(lines: string[]): number | undefined {
  let fence: string | undefined;
  for (const [index, line] of lines.entries()) {
    const [, mark] = /^\s{0,3}(```|~~~)/.exec(line) ?? [];
    if (fence !== undefined || mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark === fence) fence = undefined;
      continue;
    }
    const isUnderlined = /^\s{0,3}(?:=+|-{2,})\s*$/.test(lines[index + 1] ?? "");
    if (!isUnderlined && !isSkipped(line) && /[\p{L}\p{N}]/u.test(plain(line))) return index;
  }
  return undefined;
}

/** Headings, also those that are bold text or end with a colon, rules, tables, comments and images. */
const isSkipped = (line: string): boolean =>
  /^\s{0,3}#{1,6}(?:\s|$)|^\s*(\*\*|__)[^*_]+\1:?\s*$|^[^.!?]{1,60}:\s*$|^\s*[-=*_](?:\s*[-=*_]){2,}\s*$|^\s*(?:\||<|!\[)/.test(
    line,
  );

const isBlockStart = (line: string): boolean => /^\s*(?:[-*+>|#]|\d+[.)]\s|```|~~~)/.test(line);

/** Without markers of lists, tasks and quotations, and without markup inside the line. */
const plain = (text: string): string =>
  text
    .replace(/^\s*(?:(?:[-*+>]|\d+[.)])\s+)+(?:\[[ xX]\]\s+)?/, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__|[*`]/g, "")
    .replace(/\s+/g, " ")
    .trim();

const abbreviation = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|[A-Za-z]|\d+)\.$/i;

/** Up to the first full stop that ends a sentence; the whole paragraph if there is none. */
function sentenceLength(paragraph: string): number {
  for (const { index, 0: stop } of paragraph.matchAll(/(?<![.!?])[.!?]+["')\]*_`]*(?=\s|$)/g)) {
    const length = index + stop.length;
    if (!abbreviation.test(paragraph.slice(0, index + 1))) return length;
  }
  return paragraph.length;
}
