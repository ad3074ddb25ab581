// Removes words that rendered Markdown leaves out: comments of formulas and diagrams, and what follows the language of a
// code block.
import type { Removals } from "./removals.ts";

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
