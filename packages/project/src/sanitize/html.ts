// Removes HTML comments, invisible elements and text-carrying attributes; other tags stay.
import { hasContent, isHiddenByAttribute, isHiddenByName, isKept } from "./hidden-elements.ts";
import type { RemovalKind, Removals } from "./removals.ts";
import { openTagReader, type Tag, type TagReader } from "./tags.ts";
import { openUnknownElements, type UnknownElements } from "./unknown-elements.ts";

export function stripHtml(text: string, removals: Removals): string {
  if (!text.includes("<")) return text;
  const page = openPage(text, removals);
  const kept: string[] = [];
  let at = 0;
  for (let open = text.indexOf("<"); open !== -1; open = text.indexOf("<", at)) {
    kept.push(text.slice(at, open));
    const taken = takeComment(page, open) ?? takeTag(page, open) ?? { kept: "<", end: open + 1 };
    kept.push(taken.kept);
    at = taken.end;
  }
  kept.push(text.slice(at));
  return kept.join("");
}

interface Page {
  text: string;
  removals: Removals;
  tags: TagReader;
  /** The next position of this mark at or after a position, or -1; calls in ascending order scan the text once. */
  find(mark: string, from: number): number;
  /** From these positions on, elements of this name are never closed. */
  unclosed: Map<string, number>;
  unknown: UnknownElements;
  /** How often unclosed elements may be followed to the end of the text. */
  retries: number;
}

interface Taken {
  kept: string;
  end: number;
}

function openPage(text: string, removals: Removals): Page {
  const positions = new Map<string, { from: number; at: number }>();
  // Letters of other scripts may change their length.
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return {
    text,
    removals,
    tags: openTagReader(text),
    find(mark, from) {
      const last = positions.get(mark);
      if (last && last.from <= from && (last.at === -1 || last.at >= from)) return last.at;
      const at = lower.indexOf(mark, from);
      positions.set(mark, { from, at });
      return at;
    },
    unclosed: new Map(),
    unknown: openUnknownElements(text),
    retries: 16,
  };
}

function takeComment(page: Page, open: number): Taken | null {
  const end = commentEnd(page, open);
  if (end === null) return null;
  const { text, removals } = page;
  if (end === "never" && isQuotedAsCode(text, open, open + 4)) return null;
  const behind = end === "never" ? text.length : end;
  removals.add("html-comment", text.slice(open, behind));
  return { kept: "", end: behind };
}

/** Comments, declarations, processing instructions and what browsers take for one: they show none of it. */
function commentEnd({ text, find }: Page, open: number): number | "never" | null {
  const behind = (mark: string, from: number) => {
    const at = find(mark, from);
    return at === -1 ? null : at + mark.length;
  };
  if (text.startsWith("<!-->", open)) return open + 5;
  if (text.startsWith("<!--->", open)) return open + 6;
  if (text.startsWith("<!--", open)) {
    const ends = [behind("-->", open + 4), behind("--!>", open + 4)].filter((end) => end !== null);
    return ends.length > 0 ? Math.min(...ends) : "never";
  }
  if (text.startsWith("<![CDATA[", open)) return behind("]]>", open) ?? behind(">", open);
  if (text[open + 1] === "?") return behind("?>", open) ?? behind(">", open);
  const end = /^<(?:!|\/[^a-zA-Z>])/.test(text.slice(open, open + 3)) ? behind(">", open) : null;
  const inner = find("<!--", open + 1);
  // A comment inside is removed first: what is left may be another.
  return end !== null && inner !== -1 && inner < end ? null : end;
}

function takeTag(page: Page, open: number): Taken | null {
  const tag = page.tags.read(open);
  if (!tag) return null;
  const drop = (kind: RemovalKind, end: number) => {
    page.removals.add(kind, page.text.slice(open, end));
    return { kept: "", end };
  };
  const hiddenEnd = hiddenElementEnd(page, tag);
  if (hiddenEnd !== null) return drop("html-element", hiddenEnd);
  const linkEnd = emptyLinkEnd(page, tag);
  if (linkEnd !== null) return drop("empty-link", linkEnd);
  if (page.unknown.spellsWords(tag) && !isQuotedAsCode(page.text, tag.start, tag.end))
    return drop("html-element", tag.end);
  return { kept: withoutWords(tag, page), end: tag.end };
}

/** Its address can carry text, and there is nothing to click on. */
function emptyLinkEnd({ text }: Page, tag: Tag): number | null {
  if (tag.kind === "close" || tag.name !== "a") return null;
  emptyLink.lastIndex = tag.end;
  const found = emptyLink.exec(text);
  return found && tag.end + found[0].length;
}

const emptyLink = /(?:\s|&nbsp;|&#(?:32|160|x20|xa0);)*<\/a\s*>/iy;

/** The end of the hidden element that this tag opens; null if it opens none. */
function hiddenElementEnd(page: Page, tag: Tag): number | null {
  const byAttribute = isHiddenByAttribute(tag);
  if (!byAttribute && !isHiddenByName(tag)) return null;
  if (!hasContent(tag)) return tag.end;
  const end = isHiddenByName(tag) ? rawEnd(page, tag) : elementEnd(page, tag);
  if (tag.name === "rp") return rubyEnd(page, end, tag);
  if (end !== null) return end;
  if (!byAttribute || isQuotedAsCode(page.text, tag.start, tag.end)) return null;
  return page.text.length;
}

function rawEnd(page: Page, tag: Tag): number | null {
  if (tag.end >= (page.unclosed.get(tag.name) ?? Number.POSITIVE_INFINITY)) return null;
  for (let at = page.find(`</${tag.name}`, tag.end); at !== -1; at = page.find(`</${tag.name}`, at + 1)) {
    const close = page.tags.read(at);
    if (close?.name === tag.name) return close.end;
  }
  page.unclosed.set(tag.name, tag.end);
  return null;
}

/** Its closing tag may be left out before other parts of the annotation. */
function rubyEnd({ find }: Page, close: number | null, tag: Tag): number | null {
  const next = ["<rt", "<rp", "</ruby"].map((mark) => find(mark, tag.end)).filter((at) => at !== -1);
  const ends = [...next, ...(close === null ? [] : [close])];
  return ends.length === 0 ? null : Math.min(...ends);
}

/** The matching closing tag: elements of the same name may be nested. */
function elementEnd(page: Page, tag: Tag): number | null {
  if (page.retries === 0 || page.find(`</${tag.name}`, tag.end) === -1) return null;
  let depth = 1;
  let at = tag.end;
  for (let open = page.text.indexOf("<", at); open !== -1; open = page.text.indexOf("<", at)) {
    const comment = commentEnd(page, open);
    if (comment === "never") break;
    const inner = comment === null ? page.tags.read(open) : null;
    at = comment ?? inner?.end ?? open + 1;
    if (inner?.name !== tag.name) continue;
    depth += inner.kind === "open" ? 1 : -1;
    if (depth === 0) return at;
  }
  page.retries -= 1;
  return null;
}

function withoutWords(tag: Tag, { text, removals }: Page): string {
  const dropped = tag.attributes.filter((attribute) => tag.kind === "close" || !isKept(attribute, tag.name));
  if (dropped.length === 0) return text.slice(tag.start, tag.end);
  for (const { source } of dropped) removals.add("html-attribute", source.trim());
  const all = new Set(dropped);
  const kept = tag.attributes.filter((attribute) => !all.has(attribute)).map(({ source }) => source);
  return `<${tag.kind === "close" ? "/" : ""}${tag.written}${kept.join("")}${tag.ending}`;
}

const codeReach = 200;

/** A tag between backticks on one line is quoted text. */
function isQuotedAsCode(text: string, start: number, end: number): boolean {
  const before =
    text
      .slice(Math.max(0, start - codeReach), start)
      .split("\n")
      .at(-1) ?? "";
  const after = text.slice(end, end + codeReach).split("\n")[0] ?? "";
  return (before.split("`").length - 1) % 2 === 1 && after.includes("`");
}
