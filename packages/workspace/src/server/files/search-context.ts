// Adds the lines around matches.
import { resolve } from "node:path";
import type { SearchResult } from "@agentcli/protocol";
import { lineWindow } from "./lines.ts";
import { readRegular } from "./regular.ts";
import { maxFileBytes, shownCharacters } from "./search-task.ts";

type Matches = Extract<SearchResult, { kind: "matches" }>;

/** Lines of context are marked, each line occurs once, and files keep their order. */
export async function withContext(root: string, result: Matches, context: number): Promise<Matches> {
  const byFile = new Map<string, Matches["matches"]>();
  for (const match of result.matches) byFile.set(match.path, [...(byFile.get(match.path) ?? []), match]);
  const lines: Matches["matches"] = [];
  for (const [path, matches] of byFile) lines.push(...(await surround(resolve(root, path), matches, context)));
  return { ...result, matches: lines };
}

async function surround(file: string, matches: Matches["matches"], context: number): Promise<Matches["matches"]> {
  const content = await readRegular(file, maxFileBytes);
  const [first] = matches;
  if (content.kind === "unreadable" || !first) return matches;
  const texts = content.bytes.toString("utf8").split("\n");
  if (texts.at(-1) === "") texts.pop();
  const byLine = new Map(matches.map((match) => [match.line, match]));
  const shown = new Set<number>();
  for (const { line } of matches) {
    for (let at = Math.max(1, line - context); at <= Math.min(texts.length, line + context); at += 1) shown.add(at);
  }
  return [...shown]
    .sort((left, right) => left - right)
    .map((line) => {
      const text = (texts[line - 1] ?? "").replace(/\r$/, "");
      return byLine.get(line) ?? { path: first.path, line, text: lineWindow(text, 0, shownCharacters), context: true };
    });
}
