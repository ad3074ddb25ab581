// HTML as Markdown for a model: headings, lists, links, code and tables; scripts and styles are dropped. Linear, and never throws.
import { decodeEntities } from "./entities.ts";
import { openMarkdown } from "./markdown-writer.ts";
import type { Tag } from "./tag.ts";

export interface Page {
  title: string;
  markdown: string;
}

/** Links become absolute with `baseUrl`. */
export function htmlToMarkdown(html: string, baseUrl: string): Page {
  const writer = openMarkdown(baseUrl);
  let title = "";
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    if (open !== at) writer.text(decodeEntities(html.slice(at, open === -1 ? html.length : open)));
    if (open === -1) break;
    const tag = readTag(html, open);
    if (tag === null) {
      writer.text("<");
      at = open + 1;
      continue;
    }
    at = tag.end;
    if (rawElements.has(tag.name) && !tag.isEnd) {
      const close = endOfElement(html, at, tag.name);
      if (tag.name === "title" && title === "")
        title = decodeEntities(html.slice(at, close.start)).replace(/\s+/g, " ").trim();
      if (tag.name === "textarea") writer.text(decodeEntities(html.slice(at, close.start)));
      at = close.end;
    } else if (tag.name !== "") writer.tag(tag);
  }
  return { title, markdown: writer.end() };
}

/** Their content is not markup. */
const rawElements = new Set([
  ...["script", "style", "title", "textarea", "noscript", "template", "svg", "math", "iframe", "object", "select"],
]);

/** Null where a `<` is only a character. */
function readTag(html: string, open: number): Tag | null {
  if (html.startsWith("<!--", open)) return ignored(html, open, "-->");
  const next = html[open + 1] ?? "";
  if (next === "!" || next === "?") return ignored(html, open, ">");
  tagName.lastIndex = open;
  const named = tagName.exec(html);
  if (!named) return null;
  const name = (named[2] ?? "").toLowerCase();
  const attributes = new Map<string, string>();
  let at = tagName.lastIndex;
  for (;;) {
    attribute.lastIndex = at;
    const found = attribute.exec(html);
    if (!found) break;
    at = attribute.lastIndex;
    const value = found[2] ?? found[3] ?? found[4] ?? "";
    if (attributes.size < maxAttributes) attributes.set((found[1] ?? "").toLowerCase(), decodeEntities(value));
  }
  const close = html.indexOf(">", at);
  return { name, isEnd: named[1] === "/", attributes, end: close === -1 ? html.length : close + 1 };
}

const maxAttributes = 50;
const tagName = /<(\/?)([a-zA-Z][^\s/>]*)/y;
const attribute = /[\s/]+([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/y;

function ignored(html: string, open: number, mark: string): Tag {
  const found = html.indexOf(mark, open + 2);
  const end = found === -1 ? html.length : found + mark.length;
  return { name: "", isEnd: false, attributes: new Map(), end };
}

function endOfElement(html: string, from: number, name: string): { start: number; end: number } {
  const closing = new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, "gi");
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found ? { start: found.index, end: closing.lastIndex } : { start: html.length, end: html.length };
}
