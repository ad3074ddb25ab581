// Removes words of formulas that a page does not show.
import { type Closing, endOfArguments, endOfGroup, hasFormula, pairBraces } from "./braces.ts";
import type { Removals } from "./removals.ts";

/**
 * In formulas: phantoms, words that lap over their neighbours or are moved off the page, names and attributes, all but
 * one of alternatives, and words in a colour that a page can have.
 */
export function stripUnseenMath(text: string, removals: Removals): string {
  if (!/\\[a-zA-Z@]/.test(text)) return text;
  const closing = pairBraces(text);
  const context = { closing, isFormula: hasFormula(text), isColourKnown: !/\\(?:definecolor|colorlet)/.test(text) };
  const kept: string[] = [];
  let at = 0;
  for (const found of text.matchAll(unseenMath)) {
    if (found.index < at) continue;
    const end = endOfUnseen(text, found, context);
    if (end === undefined) continue;
    kept.push(text.slice(at, found.index));
    at = end;
    removals.add(found.groups?.colour === undefined ? "math-phantom" : "math-colour", text.slice(found.index, at));
  }
  return [...kept, text.slice(at)].join("");
}

/** Every page shows these, be it light or dark; a colour by numbers can be that of the page. */
const seenColours = new Set(
  "red|green|blue|orange|purple|teal|magenta|brown|violet|darkred|darkgreen|crimson|royalblue|forestgreen|olive".split(
    "|",
  ),
);
const colourModel = /(?:\[[^\]{}]{0,40}\]\s*)?/.source;
const frameColour = /fcolorbox\s*\{[^{}]{0,400}\}/.source;
/** With the number of their arguments. */
const wholeCommands: Record<string, number> = {
  ...{ label: 1, class: 1, data: 1, htmlStyle: 2, style: 2, texttip: 2, mathtip: 2, mathchoice: 4, TextOrMath: 2 },
  ...{ "@firstoftwo": 2, "@secondoftwo": 2, definecolor: 3, colorlet: 2 },
  ...{ ref: 1, eqref: 1, require: 1, toggle: 2 },
};
const unseenMath = new RegExp(
  [
    /\\(?:[hv]?phantom|(?:math)?[lrc]lap|html(?:Class|Data|Id)|cssId)\s*(?=\{|\\bgroup)/.source,
    /\\(?<single>[hv]?phantom|(?:math)?[lrc]lap)(?![a-zA-Z])\s*(?=[^\s{}$\\])/.source,
    /(?<again>(?:\\(?:[hm]space\*?\s*\{|[hm]skip|m?kern)\s*-[^{}\\$]{0,20}\}?\s*){3,}|(?:\\!\s*){20,})/.source,
    /\\(?:raise|lower|moveleft|moveright)\s*[+-]?\d{2}[\d.]*\s*[a-z]{2}\s*(?=\{)/.source,
    /\\mmlToken\s*\{[^{}]{0,40}\}\s*\[[^[\]]*\]\s*(?=\{)/.source,
    /\\raisebox\s*\{\s*[+-]?\d{2,}[^{}]{0,40}\}\s*(?=\{)/.source,
    String.raw`\\(?<whole>${Object.keys(wholeCommands).join("|")})\s*(?=\{)`,
    /\\(?<options>includegraphics|bbox)\s*\[[^[\]]*\]/.source,
    /\\(?<moved>[hm]space\*?|[hm]skip|m?kern)\s*(?:\{\s*)?-\s*(?:\d{2}[\d.]*\s*(?:em|ex|cm|in|pc)|\d{3}[\d.]*\s*\w\w)/
      .source,
    String.raw`\\(?<colour>(?:text)?color|colorbox|${frameColour})\s*${colourModel}` +
      String.raw`\{(?<value>[^{}]{0,400})\}\s*`,
  ].join("|"),
  "g",
);

interface UnseenContext {
  closing: Closing;
  isFormula: boolean;
  /** Else a formula has given names of colours to others. */
  isColourKnown: boolean;
}

/** Where the words end that the command hides: with its braces, or for a colour with the group, formula or paragraph. */
function endOfUnseen(text: string, found: RegExpMatchArray, context: UnseenContext): number | undefined {
  const { closing, isFormula, isColourKnown } = context;
  const { whole, options, single, colour, value = "" } = found.groups ?? {};
  const moved = found.groups?.moved ?? found.groups?.again;
  const begin = (found.index ?? 0) + found[0].length;
  if (whole !== undefined || options !== undefined || single !== undefined || moved !== undefined) {
    if (!isFormula) return undefined;
    if (moved !== undefined) return endOfGroup(text, text[begin] === "}" ? begin + 1 : begin, closing);
    const count = single === undefined ? (wholeCommands[whole ?? ""] ?? 0) : 1;
    return endOfArguments(text, begin, { count, closing });
  }
  if (colour !== undefined && isColourKnown && seenColours.has(value.trim())) return undefined;
  // A group behind it ends nothing: only old renderers colour that alone.
  if (colour === "color") return endOfGroup(text, begin, closing);
  const close = closing.get(begin);
  return close === undefined ? undefined : close + 1;
}
