// Files stay under 400 lines; a function over 60 lines says why in a comment right above it. Functions over 60 lines or with
// more than three parameters, and interfaces with more than eight methods and no reason, are listed in oversize.txt.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findMethodCounts, findSignatures, nameBefore } from "./signatures.ts";
import { lineAt, viewSource } from "./source.ts";
import { type Problem, packageOf, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

export const maxFileLines = 400;
export const maxFunctionLines = 60;
export const maxParameters = 3;
export const maxMethods = 8;

export function findOversize(root = repositoryRoot): Problem[] {
  return shippedSources(root).flatMap((file) => [...judgeFile(file), ...judgeFunctions(file)]);
}

/** Differences between the tree and the committed list, which may only get shorter. */
export function findUnlistedOversize(root = repositoryRoot): Problem[] {
  const [present, listed] = [listOversize(root), readList(root)];
  return [
    ...subtract(present, listed).map((entry) => `${entry}: make it smaller. checks/oversize.txt takes no new entries.`),
    ...subtract(listed, present).map((entry) => `${entry}: no longer there; remove the line from checks/oversize.txt.`),
  ];
}

/** What exceeds a limit, as lines of the list: the limit, the file and the name. */
export const listOversize = (root = repositoryRoot): string[] => shippedSources(root).flatMap(oversizeIn).sort();

export function readList(root = repositoryRoot): string[] {
  const path = join(root, "checks/oversize.txt");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}

const shippedSources = (root: string): SourceFile[] =>
  readSources(root, /\.(ts|tsx|mts|js|mjs|cjs)$/).filter(
    (file) => packageOf(file.path)?.isShipped ?? !/\.test\.\w+$/.test(file.path),
  );

function oversizeIn({ path, text }: SourceFile): string[] {
  const { code, comments } = viewSource(text);
  const wide = findSignatures(code).filter(({ parameters }) => parameters > maxParameters);
  const rich = findMethodCounts(code).filter(
    ({ methods, line }) => methods > maxMethods && !/\bmethods\b/.test(commentAbove(comments, line)),
  );
  return [
    ...findLongFunctions(text).map(({ name }) => `lines ${path} ${name}`),
    ...wide.map(({ name }) => `parameters ${path} ${name}`),
    ...rich.map(({ name }) => `methods ${path} ${name}`),
  ];
}

/** The comment lines right above a line. */
function commentAbove(comments: string, line: number): string {
  const above = comments.split("\n").slice(0, line - 1);
  const start = above.findLastIndex((text) => text.trim() === "");
  return above.slice(start + 1).join("\n");
}

/** The first list without the entries of the second, one for one. */
function subtract(entries: string[], others: string[]): string[] {
  const left = [...others];
  return entries.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

export interface LongFunction {
  name: string;
  line: number;
  lines: number;
  isExplained: boolean;
}

/** Functions longer than allowed, with or without a reason. */
export function findLongFunctions(source: string): LongFunction[] {
  const { code, comments } = viewSource(source);
  const commentLines = comments.split("\n");
  return blocksOf(code)
    .filter(({ open, close }) => lineAt(code, close) - lineAt(code, open) >= maxFunctionLines)
    .map((block) => ({ ...block, header: headerOf(code, block.open) }))
    .filter(({ header }) => isFunction(header.text))
    .map(({ header, close }) => {
      const line = lineAt(code, header.start);
      const isExplained = /[a-z]{2}/i.test(commentLines[line - 2] ?? "");
      const name = nameBefore(header.text.slice(0, Math.max(0, header.text.indexOf("("))));
      return { name, line, lines: lineAt(code, close) - line + 1, isExplained };
    });
}

function judgeFile({ path, text }: SourceFile): Problem[] {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > maxFileLines ? [`${path}: ${lines} lines, at most ${maxFileLines}. Split it by subject.`] : [];
}

const judgeFunctions = ({ path, text }: SourceFile): Problem[] =>
  findLongFunctions(text)
    .filter((found) => !found.isExplained)
    .map(
      ({ line, lines }) =>
        `${path}:${line}: a function of ${lines} lines; over ${maxFunctionLines} needs its reason in a comment right above.`,
    );

interface Block {
  open: number;
  close: number;
}

function blocksOf(code: string): Block[] {
  const open: number[] = [];
  const blocks: Block[] = [];
  for (let at = 0; at < code.length; at++) {
    if (code[at] === "{") open.push(at);
    const start = code[at] === "}" ? open.pop() : undefined;
    if (start !== undefined) blocks.push({ open: start, close: at });
  }
  return blocks;
}

/** The text in front of a block, back to the end of the previous statement, with the brackets of types and defaults. */
function headerOf(code: string, open: number): { start: number; text: string } {
  let at = open - 1;
  for (; at >= 0 && !/[;{([,]/.test(code[at] ?? ""); at--) {
    const isArrow = code.slice(at - 1, at + 1) === "=>";
    const continues = code[at] !== "}" || /^\s*[[>|&)]/.test(code.slice(at + 1, open));
    if (!continues) break;
    if (!isArrow) at = openingOf(code, at);
  }
  const text = code.slice(at + 1, open);
  return { start: at + 1 + (text.length - text.trimStart().length), text: text.trim() };
}

const pairs: Record<string, string> = { "}": "{", ")": "(", "]": "[", ">": "<" };

/** The position of the bracket that this one closes, or the position itself without one. */
function openingOf(code: string, close: number): number {
  const [closing = "", opening] = [code[close], pairs[code[close] ?? ""]];
  let depth = 0;
  for (let at = close; opening !== undefined && at >= 0; at--) {
    const isArrow = closing === ">" && code[at - 1] === "=";
    if (closing === ">" && code[at] === ";") return close;
    if (code[at] === closing && !isArrow) depth++;
    if (code[at] === opening && --depth === 0) return at;
  }
  return close;
}

const isFunction = (header: string): boolean =>
  /=>$/.test(header) ||
  /\bfunction\b/.test(header) ||
  (/^(?:(?:async|static|get|set|public|private|protected|override)\s+)*\*?\s*[\w$#]+\s*(?:<.*>)?\(.*\)\s*(?::.*)?$/s.test(
    header,
  ) &&
    !/^(?:if|for|while|switch|catch|with|return|await)\b/.test(header));
