// Removes words that rendered Markdown leaves out: phantoms and comments of formulas, comments of diagrams, and what
// follows the language of a code block.
import type { Removals } from "./removals.ts";

/**
 * In formulas: phantoms, words that lap over their neighbours or are moved off the page, attributes, and words in a
 * colour that a page can have.
 */
export function stripUnseenMath(text: string, removals: Removals): string {
  if (!/\\(?:[hv]?phantom|(?:math)?[lrc]lap|f?(?:text)?color|html|cssId|raisebox)/.test(text)) return text;
  const closing = pairBraces(text);
  const kept: string[] = [];
  let at = 0;
  for (const found of text.matchAll(unseenMath)) {
    if (found.index < at) continue;
    const end = endOfUnseen(text, found, closing);
    if (end === undefined) continue;
    kept.push(text.slice(at, found.index));
    at = end;
    removals.add(found.groups?.colour === undefined ? "math-phantom" : "math-colour", text.slice(found.index, at));
  }
  return [...kept, text.slice(at)].join("");
}

/** Every page shows these, be it light or dark; a colour by numbers can be that of the page. */
const seenColours =
  "red|green|blue|orange|purple|teal|magenta|brown|violet|darkred|darkgreen|crimson|royalblue|forestgreen|olive";
const colourModel = /(?:\[[^\]{}]{0,40}\]\s*)?/.source;
const frameColour = /fcolorbox\s*\{[^{}]{0,400}\}/.source;
const unseenMath = new RegExp(
  [
    /\\(?:[hv]?phantom|(?:math)?[lrc]lap|html(?:Class|Data|Id|Style)|cssId)\s*(?=\{)/.source,
    /\\raisebox\s*\{\s*[+-]?\d{2,}[^{}]{0,40}\}\s*(?=\{)/.source,
    String.raw`\\(?<colour>(?:text)?color|colorbox|${frameColour})\s*${colourModel}` +
      String.raw`\{(?!\s*(?:${seenColours})\s*\})[^{}]{0,400}\}\s*`,
  ].join("|"),
  "g",
);

/** Where the words end that the command hides: with its braces, or for a colour with the group, formula or paragraph. */
function endOfUnseen(text: string, found: RegExpMatchArray, closing: Map<number, number>): number | undefined {
  const begin = (found.index ?? 0) + found[0].length;
  const close = closing.get(begin);
  if (close !== undefined) return close + 1;
  return found.groups?.colour === "color" ? endOfGroup(text, begin, closing) : undefined;
}

function endOfGroup(text: string, begin: number, closing: Map<number, number>): number {
  let at = begin;
  while (at < text.length && !/^(?:[$}]|\n\s*\n)/.test(text.slice(at, at + 8))) {
    if (text[at] === "\\") at += 1;
    at = (closing.get(at) ?? at) + 1;
  }
  return Math.min(at, text.length);
}

function pairBraces(text: string): Map<number, number> {
  const open: number[] = [];
  const pairs = new Map<number, number>();
  for (const { 0: mark, index } of text.matchAll(/\\[\s\S]|[{}]/g)) {
    if (mark === "{") open.push(index);
    const start = mark === "}" ? open.pop() : undefined;
    if (start !== undefined) pairs.set(start, index);
  }
  return pairs;
}

/** Renderers use the first word to colour the block; the rest of the line is for programs. */
export function stripFenceInfo(text: string, removals: Removals): string {
  if (!/```|~~~/.test(text)) return text;
  return text.replace(fence, (line, mark: string, info: string) => {
    const [, language = ""] = /^([ \t]*[\w+#.:{}-]{1,24})(?=\s|$)/.exec(info) ?? [];
    if (info.slice(language.length).trim() === "") return line;
    removals.add("fence-info", info.trim());
    return `${mark}${language}`;
  });
}

/** A line with a backtick after the mark is code within a line, which is shown. */
const fence = /^([ \t>]{0,40}(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:`{3,}(?=[^`\n]*$)|~{3,}))([^\n]*)$/gm;

const opensDrawn = /^[ \t>]{0,40}(?:(?:`{3,}|~{3,})[ \t]*(math|mermaid)(?![\w-])|\$\$[ \t]*$)/;
const closesDrawn = /^[ \t>]{0,40}(?:`{3,}|~{3,}|\$\$)[ \t]*$/;
const comments = { math: /(?<!\\)%.*/, mermaid: /%%.*|^[ \t>]*(?:acc(?:Descr|Title)|(?:click|links?)[ \t]).*/ };
const opensDescription = /^[ \t>]*accDescr[ \t]*\{[^}]*$/;

/** In blocks that are rendered as a formula or a diagram, `%` begins a comment. */
export function stripDrawnComments(text: string, removals: Removals): string {
  if (!/%|acc|click|links?/.test(text)) return text;
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => closesDrawn.test(line));
  let drawn: keyof typeof comments | null = null;
  let isDescription = false;
  return lines
    .map((line, index) => {
      if (drawn === null) {
        const [opening, language = "math"] = opensDrawn.exec(line) ?? [];
        // Without its end it is not a block.
        if (opening !== undefined && index < last) drawn = language === "mermaid" ? "mermaid" : "math";
        return line;
      }
      if (closesDrawn.test(line)) drawn = null;
      const wasDescription = isDescription && drawn !== null;
      isDescription = wasDescription ? !line.includes("}") : drawn === "mermaid" && opensDescription.test(line);
      const clean = drawn === null ? line : wasDescription ? "" : line.replace(comments[drawn], "");
      if (clean !== line) removals.add("drawn-comment", line.trim());
      return clean;
    })
    .join("\n");
}
