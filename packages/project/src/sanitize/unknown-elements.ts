// Elements that HTML does not know: browsers show their content, not their names, which can spell words.
import type { Tag } from "./tags.ts";

const known = new Set(
  [
    "html head body base link meta style title address article aside footer header hgroup main nav section search",
    "h1 h2 h3 h4 h5 h6 blockquote dd div dl dt figcaption figure hr li menu ol p pre ul center dir",
    "a abbr acronym b bdi bdo big br cite code data dfn em font i kbd mark nobr q rb rp rt rtc ruby s samp small span",
    "strike strong sub sup time tt u var wbr del ins area audio img map track video embed iframe object param picture",
    "source svg math canvas noscript script noframes noembed plaintext xmp marquee blink frame frameset applet",
    "caption col colgroup table tbody td tfoot th thead tr button datalist fieldset form input label legend meter",
    "optgroup option output progress select textarea details dialog summary slot template",
    "mi mn mo ms mtext mrow mfrac msqrt mroot mstyle merror mpadded msub msup msubsup munder mover munderover",
    "mmultiscripts mtable mtr mtd semantics annotation annotation-xml",
    "g path rect circle ellipse line polyline polygon text tspan use defs symbol desc metadata",
  ].flatMap((names) => names.split(" ")),
);

/** As in `cp <source> <file-name>`, `List<String>`. */
const placeholder = /^[a-z0-9]+(?:-[a-z0-9]+)?$/;
const maxPlaceholder = 20;
const maxName = 24;

export interface UnknownElements {
  /** Whether the name of this tag is text that a reader does not see. */
  spellsWords(tag: Tag): boolean;
}

/** Tags are asked about in ascending order. */
export function openUnknownElements(text: string): UnknownElements {
  const opened = namesIn(text, /<([a-z][a-z0-9-]*)/gi);
  const closed = namesIn(text, /<\/([a-z][a-z0-9-]*)/gi);
  let rowEnd = 0;
  return {
    spellsWords(tag) {
      if (tag.start >= rowEnd) rowEnd = endOfRow(text, tag.start);
      if (known.has(tag.name)) return false;
      if (placeholder.test(tag.name) && tag.name.length <= maxPlaceholder) return tag.start < rowEnd;
      const isElement = (tag.kind === "open" ? closed : opened).has(tag.name);
      return !isElement || tag.name.length > maxName;
    },
  };
}

const namesIn = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].map(([, name = ""]) => name.toLowerCase()));

/** The end of three tags or more with nothing between them; the start where there are fewer. */
function endOfRow(text: string, start: number): number {
  row.lastIndex = start;
  const found = row.exec(text);
  return start + (found?.[0].length ?? 0);
}

const row = /(?:<\/?[a-z][a-z0-9-]*[\s/]*>\s*){3,}/iy;
