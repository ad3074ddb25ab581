// Removes words that rendered Markdown leaves out: phantoms and comments of formulas, comments of diagrams, and what
// follows the language of a code block.
import type { Removals } from "./removals.ts";

/** `\\phantom{…}` takes the room of its content and shows nothing. */
export function stripPhantoms(text: string, removals: Removals): string {
  if (!text.includes("phantom")) return text;
  const closing = pairBraces(text);
  const kept: string[] = [];
  let at = 0;
  for (const found of text.matchAll(/\\[hv]?phantom\s*(?=\{)/g)) {
    const close = closing.get(found.index + found[0].length);
    if (found.index < at || close === undefined) continue;
    kept.push(text.slice(at, found.index));
    at = close + 1;
    removals.add("math-phantom", text.slice(found.index, at));
  }
  return [...kept, text.slice(at)].join("");
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
const comments = { math: /(?<!\\)%.*/, mermaid: /%%.*|^[ \t>]*acc(?:Descr|Title).*/ };

/** In blocks that are rendered as a formula or a diagram, `%` begins a comment. */
export function stripDrawnComments(text: string, removals: Removals): string {
  if (!text.includes("%") && !text.includes("acc")) return text;
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => closesDrawn.test(line));
  let drawn: keyof typeof comments | null = null;
  return lines
    .map((line, index) => {
      if (drawn === null) {
        const [opening, language = "math"] = opensDrawn.exec(line) ?? [];
        // Without its end it is not a block.
        if (opening !== undefined && index < last) drawn = language === "mermaid" ? "mermaid" : "math";
        return line;
      }
      if (closesDrawn.test(line)) drawn = null;
      const clean = drawn === null ? line : line.replace(comments[drawn], "");
      if (clean !== line) removals.add("drawn-comment", line.trim());
      return clean;
    })
    .join("\n");
}
