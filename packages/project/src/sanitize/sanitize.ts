// Takes out of a text what a reader would not see, and says what it took. Linear, never longer, stable when repeated.
import { stripCharacters } from "./characters.ts";
import { stripHtml } from "./html.ts";
import { stripMarkdown } from "./markdown.ts";
import { stripEscapes, stripReferences } from "./references.ts";
import { collectRemovals, type Removal, type Removals } from "./removals.ts";

export type { Removal, RemovalKind } from "./removals.ts";

export interface Sanitized {
  text: string;
  report: Removal[];
}

export function sanitize(text: string): Sanitized {
  const removals = collectRemovals();
  let clean = text;
  for (let round = 0; round < mostRounds; round += 1) {
    const before = clean;
    clean = passes.reduce((rest, pass) => pass(rest, removals), clean);
    if (clean === before) return { text: clean, report: removals.report() };
  }
  return { text: untangle(clean, removals), report: removals.report() };
}

const passes = [stripEscapes, stripCharacters, stripReferences, stripHtml, stripMarkdown];

/** What is hidden inside the pieces of something hidden shows only after that is gone; nobody nests deeper by accident. */
const mostRounds = 12;

/** Markup still coming apart after that many rounds was made to: it loses the characters that could make up more. */
function untangle(text: string, removals: Removals): string {
  removals.add("tangled-markup", text);
  return stripCharacters(text.replace(/[<&[\]]/g, ""), removals).replace(/\u200c|\u200d|\ufe0f/g, "");
}
