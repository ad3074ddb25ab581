// Writes Markdown from the tags and texts of a page, in one pass.
import type { Tag } from "./tag.ts";

export interface MarkdownWriter {
  text(text: string): void;
  tag(tag: Tag): void;
  end(): string;
}

interface List {
  ordered: boolean;
  count: number;
}

interface Writer {
  lines: string[];
  line: string;
  /** Before the next line, such as the mark of a list item. */
  mark: string;
  lists: List[];
  quotes: number;
  /** Text inside is kept as it is. */
  code: string[] | null;
  link: { href: string; line: number; start: number } | null;
  row: { cells: number; isFirst: boolean } | null;
  baseUrl: string;
}

export function openMarkdown(baseUrl: string): MarkdownWriter {
  const writer: Writer = {
    ...{ lines: [], line: "", mark: "", lists: [], quotes: 0, code: null, link: null, row: null, baseUrl },
  };
  return {
    text: (text) => addText(writer, text),
    tag: (tag) => addTag(writer, tag),
    end() {
      closeCode(writer);
      endLine(writer);
      return writer.lines
        .join("\n")
        .replace(/\n{3,}/g, "\n\n")
        .trim();
    },
  };
}

function addText(writer: Writer, text: string): void {
  if (writer.code) {
    writer.code.push(text);
    return;
  }
  const words = text.replace(/\s+/g, " ");
  writer.line += writer.line === "" || writer.line.endsWith(" ") ? words.trimStart() : words;
}

function addTag(writer: Writer, tag: Tag): void {
  if (tag.name === "pre") {
    if (tag.isEnd) closeCode(writer);
    else openCode(writer);
  } else if (writer.code) {
    if (tag.name === "br") writer.code.push("\n");
  } else (tag.isEnd ? closing : opening)[tag.name]?.(writer, tag);
}

type Rule = (writer: Writer, tag: Tag) => void;
type Rules = Partial<Record<string, Rule>>;

const each = (names: string[], rule: Rule): Rules => Object.fromEntries(names.map((name) => [name, rule]));
const inline =
  (mark: string): Rule =>
  (writer) => {
    writer.line += mark;
  };

const blocks = ["p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "form", "dl"];
const lines = ["dt", "dd", "figcaption", "address", "fieldset", "summary", "details", "option", "tbody", "thead"];
const headings = ["h1", "h2", "h3", "h4", "h5", "h6"];
const maxDepth = 20;

const opening: Rules = Object.assign(Object.create(null), {
  ...each(blocks, paragraph),
  ...each(lines, endLine),
  ...each(headings, (writer, { name }) => {
    paragraph(writer);
    writer.mark = `${"#".repeat(Number(name[1]))} `;
  }),
  ...each(["b", "strong"], inline("**")),
  ...each(["i", "em"], inline("*")),
  ...each(["code", "kbd", "samp", "tt"], inline("`")),
  ...each(["ul", "ol"], (writer, { name }) => {
    if (writer.lists.length === 0) paragraph(writer);
    else endLine(writer);
    writer.lists.push({ ordered: name === "ol", count: 0 });
  }),
  li(writer: Writer) {
    endLine(writer);
    const list = writer.lists.at(-1);
    if (list) list.count += 1;
    writer.mark = list?.ordered ? `${list.count}. ` : "- ";
  },
  blockquote(writer: Writer) {
    paragraph(writer);
    writer.quotes += 1;
  },
  br: endLine,
  hr(writer: Writer) {
    paragraph(writer);
    writer.line = "---";
    paragraph(writer);
  },
  a(writer: Writer, { attributes }: Tag) {
    const href = absolute(attributes.get("href"), writer.baseUrl);
    writer.link = href === null ? null : { href, line: writer.lines.length, start: writer.line.length };
  },
  img(writer: Writer, { attributes }: Tag) {
    const text = (attributes.get("alt") ?? "").replace(/\s+/g, " ").trim();
    if (text !== "") writer.line += `[image: ${text}]`;
  },
  table(writer: Writer) {
    paragraph(writer);
    writer.row = { cells: 0, isFirst: true };
  },
  tr(writer: Writer) {
    endLine(writer);
    if (writer.row) writer.row.cells = 0;
  },
  ...each(["td", "th"], (writer) => {
    if (!writer.row) return;
    writer.line = `${writer.line.trimEnd()}${writer.row.cells === 0 ? "| " : " | "}`.trimStart();
    writer.row.cells += 1;
  }),
});

const closing: Rules = Object.assign(Object.create(null), {
  ...each([...blocks, ...headings, "title"], paragraph),
  ...each([...lines, "li"], endLine),
  ...each(["b", "strong"], inline("**")),
  ...each(["i", "em"], inline("*")),
  ...each(["code", "kbd", "samp", "tt"], inline("`")),
  ...each(["ul", "ol"], (writer) => {
    endLine(writer);
    writer.lists.pop();
    if (writer.lists.length === 0) paragraph(writer);
  }),
  blockquote(writer: Writer) {
    paragraph(writer);
    writer.quotes = Math.max(0, writer.quotes - 1);
  },
  a: closeLink,
  tr(writer: Writer) {
    const { row } = writer;
    if (!row || row.cells === 0) return endLine(writer);
    writer.line = `${writer.line.trimEnd()} |`;
    endLine(writer);
    if (row.isFirst) writer.lines.push(`|${" --- |".repeat(Math.min(row.cells, 100))}`);
    row.isFirst = false;
  },
  table(writer: Writer) {
    paragraph(writer);
    writer.row = null;
  },
});

function endLine(writer: Writer): void {
  const text = writer.line.trim();
  writer.line = "";
  if (text === "") return;
  const quote = "> ".repeat(Math.min(writer.quotes, maxDepth));
  const indent = "  ".repeat(Math.min(Math.max(0, writer.lists.length - 1), maxDepth));
  const hanging = writer.mark === "" && writer.lists.length > 0 ? "  " : "";
  writer.lines.push(`${quote}${indent}${hanging}${writer.mark}${text}`);
  writer.mark = "";
}

function paragraph(writer: Writer): void {
  endLine(writer);
  // Items of one list stay together.
  if (writer.lists.length === 0 && writer.lines.at(-1) !== "") writer.lines.push("");
}

function closeLink(writer: Writer): void {
  const { link, line, lines } = writer;
  writer.link = null;
  if (!link || link.line !== lines.length) return;
  const text = line.slice(link.start).trim();
  if (text !== "") writer.line = `${line.slice(0, link.start)}[${text}](${link.href})`;
}

function openCode(writer: Writer): void {
  closeCode(writer);
  paragraph(writer);
  writer.code = [];
}

function closeCode(writer: Writer): void {
  const text = writer.code?.join("").replace(/^\n|(?<!\s)\s+$/g, "");
  writer.code = null;
  if (!text) return;
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([mark]) => mark.length));
  const fence = "`".repeat(longest + 1);
  writer.lines.push(fence, ...text.split("\n"), fence, "");
}

/** Only what can be fetched or read by people: no scripts, no data. */
function absolute(href: string | undefined, baseUrl: string): string | null {
  if (href === undefined || href.trim().startsWith("#") || !URL.canParse(href, baseUrl)) return null;
  const url = new URL(href, baseUrl);
  return /^(https?|mailto):$/.test(url.protocol) && url.href.length < 2_000
    ? url.href.replace(/[()]/g, encodeURIComponent)
    : null;
}
