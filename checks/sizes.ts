// Files stay under 400 lines; a function over 60 lines says why in a comment right above it.
import { lineAt, viewSource } from "./source.ts";
import { type Problem, placeOf, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

export const mostFileLines = 400;
export const mostFunctionLines = 60;

export function findOversize(root = repositoryRoot): Problem[] {
  return readSources(root, /\.(ts|tsx|mts|js|mjs|cjs)$/)
    .filter((file) => placeOf(file.path)?.isShipped ?? !/\.test\.\w+$/.test(file.path))
    .flatMap((file) => [...judgeFile(file), ...judgeFunctions(file)]);
}

export interface LongFunction {
  line: number;
  lines: number;
  isExplained: boolean;
}

/** Functions longer than allowed, with or without a reason. */
export function findLongFunctions(source: string): LongFunction[] {
  const { code, comments } = viewSource(source);
  const commentLines = comments.split("\n");
  return blocksOf(code)
    .filter(({ open, close }) => lineAt(code, close) - lineAt(code, open) >= mostFunctionLines)
    .map((block) => ({ ...block, header: headerOf(code, block.open) }))
    .filter(({ header }) => isFunction(header.text))
    .map(({ header, close }) => {
      const line = lineAt(code, header.start);
      const isExplained = /[a-z]{2}/i.test(commentLines[line - 2] ?? "");
      return { line, lines: lineAt(code, close) - line + 1, isExplained };
    });
}

function judgeFile({ path, text }: SourceFile): Problem[] {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > mostFileLines ? [`${path}: ${lines} lines, at most ${mostFileLines}. Split it by subject.`] : [];
}

const judgeFunctions = ({ path, text }: SourceFile): Problem[] =>
  findLongFunctions(text)
    .filter((found) => !found.isExplained)
    .map(
      ({ line, lines }) =>
        `${path}:${line}: a function of ${lines} lines; over ${mostFunctionLines} needs its reason in a comment right above.`,
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

/** What stands in front of a block, back to the end of the statement before; brackets of types and defaults belong to it. */
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

/** The bracket that the one at this position closes; the position itself where there is none. */
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
