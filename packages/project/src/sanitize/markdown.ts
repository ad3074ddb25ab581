// Removes Markdown that is not displayed: titles, descriptions of images, unused definitions.
import { type LinkText, matchAt, openLinkText, readDefinitionTarget, readInlineTarget } from "./link-parts.ts";
import { decodeReferences } from "./references.ts";
import type { RemovalKind, Removals } from "./removals.ts";

export function stripMarkdown(text: string, removals: Removals): string {
  if (!text.includes("[")) return text;
  const links = openLinkText(text);
  const brackets = pairBrackets(text);
  const definitions = readDefinitions(links, brackets);
  const labels = new Set(definitions.map(({ label }) => label));
  const cuts = [
    ...definitions.flatMap((definition) => cutDefinition(definition, text)),
    ...brackets.flatMap((pair) => cutPair(pair, links, labels)),
  ];
  return cutOut(text, cuts, removals);
}

interface Pair {
  open: number;
  close: number;
  /** It contains no brackets. */
  isInnermost: boolean;
}

interface Definition {
  label: string;
  /** First character of its line. */
  start: number;
  end: number;
  title: { start: number; end: number } | null;
  isReferredTo: boolean;
}

interface Cut {
  kind: RemovalKind;
  start: number;
  end: number;
}

function pairBrackets(text: string): Pair[] {
  const open: { at: number; isInnermost: boolean }[] = [];
  const pairs: Pair[] = [];
  for (const { 0: mark, index } of text.matchAll(/\\[\s\S]|[[\]]/g)) {
    if (mark === "[") open.push({ at: index, isInnermost: true });
    const start = mark === "]" ? open.pop() : undefined;
    if (!start) continue;
    pairs.push({ open: start.at, close: index, isInnermost: start.isInnermost });
    const enclosing = open.at(-1);
    if (enclosing) enclosing.isInnermost = false;
  }
  return pairs;
}

const maxLabel = 999;

function readDefinitions(links: LinkText, brackets: Pair[]): Definition[] {
  const { text } = links;
  const labelled = brackets.filter(({ open, close, isInnermost }) => isInnermost && close - open <= maxLabel + 1);
  const begins = labelled.flatMap((pair) => {
    const start = text[pair.close + 1] === ":" ? definitionStart(text, pair.open) : null;
    return start === null ? [] : [{ pair, start }];
  });
  const found = begins.flatMap(({ pair, start }) => {
    const label = normalise(text.slice(pair.open + 1, pair.close));
    const target = label.startsWith("^") ? restOfLine(text, pair.close) : readDefinitionTarget(links, pair.close + 2);
    return label === "" || !target
      ? []
      : [{ pair, definition: { label, start, end: target.end, title: target.title } }];
  });
  if (found.length === 0) return [];
  const defining = new Set(found.map(({ pair }) => pair));
  const used = new Set(
    labelled.filter((pair) => !defining.has(pair)).map(({ open, close }) => normalise(text.slice(open + 1, close))),
  );
  return found.map(({ definition }) => ({ ...definition, isReferredTo: used.has(definition.label) }));
}

/** The start of the line, if only quote marks and white space precede the bracket. */
function definitionStart(text: string, open: number): number | null {
  const before = text.slice(Math.max(0, open - maxIndent), open);
  const lead = /(?:^|\n)([ \t>]*)$/.exec(before);
  if (!lead || (lead[0] === before && open > maxIndent)) return null;
  return open - (lead[1] ?? "").length;
}

const maxIndent = 40;

function restOfLine(text: string, from: number) {
  const end = text.indexOf("\n", from);
  return { title: null, end: end === -1 ? text.length : end + 1 };
}

const normalise = (label: string): string => label.trim().replace(/\s+/g, " ").toLowerCase();

function cutDefinition({ start, end, title, isReferredTo }: Definition, text: string): Cut[] {
  if (!isReferredTo) return [{ kind: "reference-definition", start, end }];
  return title && text.slice(title.start, title.end).trim() !== "" ? [{ kind: "link-title", ...title }] : [];
}

function cutPair({ open, close }: Pair, links: LinkText, labels: Set<string>): Cut[] {
  const { text } = links;
  const isImage = text[open - 1] === "!" && text[open - 2] !== "\\";
  const target = text[close + 1] === "(" ? readInlineTarget(links, close + 2) : null;
  const title: Cut[] = target?.title ? [{ kind: "link-title", ...target.title }] : [];
  if (isImage) return [...title, ...cutDescription({ open, close, isInline: target !== null }, text, labels)];
  const isEmpty = decodeReferences(text.slice(open + 1, Math.min(close, open + maxBlank))).trim() === "";
  const end = target?.end ?? (isEmpty ? referenceEnd(text, close, labels) : null);
  return isEmpty && end !== null ? [{ kind: "empty-link", start: open, end }] : title;
}

/** Longer texts of white space are cut by their first characters alone. */
const maxBlank = 200;

/** After the label of a link by reference. */
function referenceEnd(text: string, close: number, labels: Set<string>): number | null {
  const label = matchAt(/\[([^[\]]{1,999})\]/y, text, close + 1);
  return label && labels.has(normalise(label[1] ?? "")) ? close + 1 + label[0].length : null;
}

/** An image is displayed, its description is not; where the description is also a label, both are removed. */
function cutDescription(
  { open, close, isInline }: { open: number; close: number; isInline: boolean },
  text: string,
  labels: Set<string>,
): Cut[] {
  const description: Cut = { kind: "image-description", start: open + 1, end: close };
  const label = isInline ? null : matchAt(/\[([^[\]]{0,999})\]/y, text, close + 1);
  if (isInline || label?.[1]) return close > open + 1 ? [description] : [];
  const name = normalise(text.slice(open + 1, Math.min(close, open + 1 + maxLabel)));
  if (!labels.has(name)) return [];
  return [{ ...description, start: open - 1, end: close + 1 + (label?.[0].length ?? 0) }];
}

function cutOut(text: string, cuts: Cut[], removals: Removals): string {
  if (cuts.length === 0) return text;
  const kept: string[] = [];
  let at = 0;
  for (const { kind, start, end } of cuts.sort((one, other) => one.start - other.start || other.end - one.end)) {
    if (start < at) continue;
    kept.push(text.slice(at, start));
    removals.add(kind, text.slice(start, end));
    at = end;
  }
  kept.push(text.slice(at));
  return kept.join("");
}
