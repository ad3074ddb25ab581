// Removes hidden content from a text and reports what it removed. Linear, never longer, idempotent.
import { stripCharacters } from "./characters.ts";
import { stripHtml } from "./html.ts";
import { stripSurplusCells } from "./invisible-cells.ts";
import { stripDrawnComments, stripFenceInfo } from "./invisible-words.ts";
import { stripMarkdown } from "./markdown.ts";
import { stripMathDefinitions } from "./math-definitions.ts";
import { stripEscapes, stripReferences } from "./references.ts";
import { collectRemovals, type Removal, type Removals } from "./removals.ts";

import { stripUnseenMath } from "./unseen-math.ts";

export type { Removal, RemovalKind } from "./removals.ts";

export interface Sanitized {
  text: string;
  report: Removal[];
}

export function sanitize(text: string): Sanitized {
  const removals = collectRemovals();
  let clean = text;
  for (let round = 0; round < maxRounds; round += 1) {
    const before = clean;
    clean = passes.reduce((rest, pass) => pass(rest, removals), clean);
    if (clean === before) return { text: clean, report: removals.report() };
  }
  return { text: untangle(clean, removals), report: removals.report() };
}

const passes = [
  stripEscapes,
  stripCharacters,
  stripReferences,
  stripHtml,
  stripMarkdown,
  stripMathDefinitions,
  stripUnseenMath,
  stripFenceInfo,
  stripDrawnComments,
  stripSurplusCells,
];

/** Removing one hidden part can reveal another; legitimate text does not nest deeper. */
const maxRounds = 12;

/** Markup that still changes after that many rounds is adversarial: it loses the characters that could form more. */
function untangle(text: string, removals: Removals): string {
  removals.add("tangled-markup", text);
  return stripCharacters(text.replace(/[<&[\]\\`~|%]/g, ""), removals).replace(/\u200c|\u200d|\ufe0f/g, "");
}
