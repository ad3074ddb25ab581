// Searches without ripgrep: reads every text file below the start, in the order ripgrep would.
import { join, relative, resolve } from "node:path";
import type { Context, Script } from "node:vm";
import type { SearchResult } from "@agentcli/protocol";
import { errnoOf, fileFault } from "./fault.ts";
import { filesUnder } from "./find.ts";
import { ignoreRulesIn } from "./gitignore.ts";
import { lineWindow } from "./lines.ts";
import { looksBinary, readRegular } from "./regular.ts";
import { matchList, maxFileBytes, type SearchTask, shownCharacters, skippedNames } from "./search-task.ts";

export async function searchByWalking(task: SearchTask): Promise<SearchResult> {
  const invalid = (reason: string) => fileFault("search", task.path, { code: "invalid", reason });
  const expression = compilePattern(task.pattern);
  if (expression instanceof Error) return invalid(`the pattern is not valid (${expression.message})`);
  return collectMatches(task, await lineFinder(expression, task.filesOnly ? 1 : task.limit + 1));
}

async function collectMatches(task: SearchTask, findIn: LineFinder) {
  const deadline = performance.now() + task.timeoutMs;
  const matches = matchList(task.limit);
  for await (const path of task.startsAt === "file" ? [task.path] : pathsUnder(task)) {
    const file = resolve(task.root, path);
    const lines = task.isWanted(path) ? await readText(file) : [];
    const hits = findIn(lines, deadline - performance.now());
    if (hits === "out of time") matches.cutShort();
    if (hits === "out of time") break;
    const enough = hits.some(({ at, column }) => {
      const text = lineWindow(lines[at] ?? "", column, shownCharacters);
      return matches.add({ path, line: at + 1, text }) === "enough";
    });
    if (enough) break;
  }
  return matches.result();
}

/** As the task names its start: relative or absolute. */
async function* pathsUnder({ root, path }: SearchTask): AsyncGenerator<string> {
  const start = resolve(root, path);
  for await (const file of filesUnder(start, await ignoreRulesIn(start), { skipped: skippedNames, links: false }))
    yield join(path, relative(start, file));
}

/** Empty for what cannot be searched: binary, unreadable or very large files. */
async function readText(file: string): Promise<string[]> {
  const content = await readRegular(file, maxFileBytes);
  if (content.kind === "unreadable" || looksBinary(content.bytes)) return [];
  const lines = content.bytes.toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

// Patterns are written for ripgrep: flags may stand in front, and Unicode classes work. What the strict syntax
// refuses, such as a needless escape, is retried in the lenient one.
function compilePattern(pattern: string): RegExp | Error {
  const [prefix, flags = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [""];
  const source = pattern.slice(prefix.length);
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    return compileLenient(source, flags);
  }
}

function compileLenient(source: string, flags: string): RegExp | Error {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** A line that matches, and where in it, both counted from 0. */
interface Hit {
  at: number;
  column: number;
}

type LineFinder = (lines: string[], timeoutMs: number) => Hit[] | "out of time";

/** Runs the expression where it can be stopped: backtracking may take for ever, and nothing else interrupts it. */
async function lineFinder(expression: RegExp, most: number): Promise<LineFinder> {
  const { createContext, Script } = await import("node:vm");
  const context = createContext({ expression, most, lines: [] });
  const script = new Script(
    "(() => { const hits = []; const find = expression; const from = lines; const enough = most;" +
      "for (let at = 0; at < from.length && hits.length < enough; at++) {" +
      "const column = from[at].search(find); if (column >= 0) hits.push({ at, column }); }" +
      "return hits; })()",
  );
  return (lines, timeoutMs) => {
    if (timeoutMs <= 0) return "out of time";
    if (lines.length === 0) return [];
    context.lines = lines;
    return runWithin(script, context, Math.ceil(timeoutMs));
  };
}

function runWithin(script: Script, context: Context, timeoutMs: number): Hit[] | "out of time" {
  try {
    return script.runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    if (errnoOf(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "out of time";
    throw error;
  }
}
