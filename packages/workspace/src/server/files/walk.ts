// Searches without ripgrep: reads every text file below the start, in the order ripgrep would.
import { join, relative, resolve } from "node:path";
import type { Context, Script } from "node:vm";
import type { SearchResult } from "@agentcli/protocol";
import { errnoOf, fileFault } from "./fault.ts";
import { compileGlob } from "./glob.ts";
import { showLine } from "./lines.ts";
import { readIfAccessible } from "./list.ts";
import { looksBinary, readRegular } from "./regular.ts";
import { matchList, type SearchTask, shownCharacters, skippedNames } from "./search-task.ts";

export async function searchByWalking(task: SearchTask): Promise<SearchResult> {
  const invalid = (reason: string) => fileFault("search", task.path, { code: "invalid", reason });
  const included = compileGlob(task.include ?? "*");
  if (included === null) return invalid(`the include glob ${task.include} is not valid (a bracket is not closed)`);
  const expression = compilePattern(task.pattern);
  if (expression instanceof Error) return invalid(`the pattern is not valid (${expression.message})`);
  return collectMatches(task, included, await lineFinder(expression, task.limit + 1));
}

async function collectMatches(task: SearchTask, included: (path: string) => boolean, findIn: LineFinder) {
  const deadline = performance.now() + task.timeoutMs;
  const matches = matchList(task.limit);
  // A file that is named itself is searched whatever its name, as ripgrep does.
  const isIncluded = task.startsAt === "file" ? () => true : included;
  for await (const path of task.startsAt === "file" ? [task.path] : filesUnder(task.path, task.root)) {
    const file = resolve(task.root, path);
    const lines = isIncluded(relative(task.root, file)) ? await readText(file) : [];
    const hits = findIn(lines, deadline - performance.now());
    if (hits === "out of time") matches.cutShort();
    if (hits === "out of time") break;
    const enough = hits.some(
      (at) => matches.add({ path, line: at + 1, text: displayLine(lines[at] ?? "") }) === "enough",
    );
    if (enough) break;
  }
  return matches.result();
}

async function* filesUnder(directory: string, root: string): AsyncGenerator<string> {
  for (const child of await readIfAccessible(resolve(root, directory))) {
    if (skippedNames.includes(child.name)) continue;
    const path = join(directory, child.name);
    if (child.isDirectory()) yield* filesUnder(path, root);
    if (child.isFile()) yield path;
  }
}

/** Empty for what cannot be searched: binary, unreadable or very large files. */
async function readText(file: string): Promise<string[]> {
  const content = await readRegular(file, maxFileBytes);
  if (content.kind === "unreadable" || looksBinary(content.bytes)) return [];
  const lines = content.bytes.toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

const maxFileBytes = 20 * 1024 * 1024;

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

/** Numbers of the lines that match, counted from 0. */
type LineFinder = (lines: string[], timeoutMs: number) => number[] | "out of time";

/** Runs the expression where it can be stopped: backtracking may take for ever, and nothing else interrupts it. */
async function lineFinder(expression: RegExp, most: number): Promise<LineFinder> {
  const { createContext, Script } = await import("node:vm");
  const context = createContext({ expression, most, lines: [] });
  const script = new Script(
    "(() => { const hits = []; const find = expression; const from = lines; const enough = most;" +
      "for (let at = 0; at < from.length && hits.length < enough; at++) if (find.test(from[at])) hits.push(at);" +
      "return hits; })()",
  );
  return (lines, timeoutMs) => {
    if (timeoutMs <= 0) return "out of time";
    if (lines.length === 0) return [];
    context.lines = lines;
    return runWithin(script, context, Math.ceil(timeoutMs));
  };
}

function runWithin(script: Script, context: Context, timeoutMs: number): number[] | "out of time" {
  try {
    return script.runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    if (errnoOf(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "out of time";
    throw error;
  }
}

function displayLine(line: string): string {
  const head = Buffer.from(line);
  return showLine({ head, bytes: head.length }, shownCharacters);
}
