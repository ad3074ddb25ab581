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
  /** It begins, but its end is not in the text. */
  | { kind: "unclosed" }
  | { kind: "problem"; line: number; message: string };

export function readFrontMatter(text: string): FrontMatter {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  if (lines[0]?.trimEnd() !== "---") return { kind: "none" };
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end === -1) return { kind: "unclosed" };
  const parsed = parseYaml(lines.slice(1, end));
  if (parsed.kind === "problem") return { kind: "problem", line: parsed.line + 1, message: parsed.message };
  const places = new Map([...parsed.lines].map(([key, line]) => [key, line + 1]));
  return { kind: "matter", values: parsed.values, lines: places, body: lines.slice(end + 1).join("\n") };
}
