// Splits a Markdown file into its front matter, read as values, and its body.
import { parseYaml, type YamlValue } from "./yaml.ts";

export type FrontMatter =
  | {
      kind: "matter";
      values: Record<string, YamlValue>;
      /** Line of each top-level key in the file. */
      lines: Map<string, number>;
      body: string;
    }
  | { kind: "none" }
  /** It has no end in the text. */
  | { kind: "unclosed" }
  | { kind: "problem"; line: number; message: string };

export function readFrontMatter(text: string): FrontMatter {
  const open = /^---[ \t]*\r?(?:\n|$)/.exec(text);
  if (!open) return { kind: "none" };
  closing.lastIndex = open[0].length;
  const close = closing.exec(text);
  if (!close) return { kind: "unclosed" };
  const front = text.slice(open[0].length, close.index);
  const parsed = parseYaml(front.split(/\r?\n/));
  if (parsed.kind === "problem") return { kind: "problem", line: parsed.line + 1, message: parsed.message };
  const fileLines = new Map([...parsed.lines].map(([key, line]) => [key, line + 1]));
  return { kind: "matter", values: parsed.values, lines: fileLines, body: text.slice(closing.lastIndex) };
}

const closing = /^(?:---|\.\.\.)[ \t]*\r?(?:\n|$)/gm;
