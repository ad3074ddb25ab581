// Text of the project itself: comments and titles stay, invisible characters are removed.
import { stripCharacters } from "./characters.ts";
import { collectRemovals } from "./removals.ts";

export function visibleText(text: string): { text: string; removed: number } {
  const removals = collectRemovals();
  const visible = stripCharacters(text, removals);
  return { text: visible, removed: removals.report().reduce((sum, { count }) => sum + count, 0) };
}
