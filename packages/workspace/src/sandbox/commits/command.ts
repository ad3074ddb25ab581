// Recognizes a command that only stages and commits. Strict: anything unusual is not one. Pure.
import { basename } from "node:path";

export interface CommitCommand {
  /** The arguments of -C, relative to the working directory. */
  directories: string[];
  /** Whether the last commit may be amended. */
  amends: boolean;
}

const shells = new Set(["sh", "bash", "dash", "zsh"]);
const subcommands = new Set(["add", "commit", "mv", "rm"]);

export function readCommitCommand(argv: string[]): CommitCommand | undefined {
  const [program = "", flag = "", script = "", ...rest] = argv;
  const isScript = shells.has(basename(program)) && /^-l?c$/.test(flag) && rest.length === 0;
  const commands = isScript ? splitScript(script) : [argv];
  const read = commands?.map(readGit);
  if (read === undefined || read.length === 0 || !read.every((one) => one !== undefined)) return undefined;
  return {
    directories: read.flatMap(({ directory }) => directory ?? "."),
    amends: read.some(({ words }) => words[0] === "commit" && words.some((word) => /^--am(?:e|en|end)?$/.test(word))),
  };
}

interface GitCommand {
  directory: string | undefined;
  /** The subcommand and what follows it. */
  words: string[];
}

/** Options before the subcommand could name another repository, another configuration or another program. */
function readGit([program, ...words]: string[]): GitCommand | undefined {
  if (program !== "git") return undefined;
  const rest = words[0] === "--no-pager" ? words.slice(1) : words;
  const [directory, command] = rest[0] === "-C" ? [rest[1], rest.slice(2)] : [undefined, rest];
  return subcommands.has(command[0] ?? "") ? { directory, words: command } : undefined;
}

/** The words of each command of a script; undefined unless it is a plain sequence of commands. */
export function splitScript(script: string): string[][] | undefined {
  const commands: string[][] = [[]];
  let rest = script;
  let isJoined = false;
  while (rest !== "") {
    const piece = readPiece(rest);
    if (piece === undefined) return undefined;
    rest = rest.slice(piece.length);
    const current = commands.at(-1) ?? [];
    if (piece.kind === "word") current.push(piece.text);
    if (piece.kind === "end" || piece.kind === "and") {
      const isBlankLine = piece.kind === "end" && piece.isLine && current.length === 0;
      if (current.length === 0 && !isBlankLine) return undefined;
      if (current.length > 0) commands.push([]);
    }
    if (piece.kind !== "nothing") isJoined = piece.kind === "and" || (isJoined && piece.kind === "end");
  }
  if (isJoined) return undefined;
  return commands.filter((words) => words.length > 0);
}

type Piece = { length: number } & (
  | { kind: "word"; text: string }
  | { kind: "and" }
  | { kind: "end"; isLine: boolean }
  /** Blanks, and redirections to /dev/null. */
  | { kind: "nothing" }
);

const silence = /^(?:(?:[012]?(?:>>|>|<)|&>)[ \t]*\/dev\/null|[12]>&[12])(?=[ \t\n;]|&&|$)/;

function readPiece(rest: string): Piece | undefined {
  const blank = /^(?:[ \t]|\\\n)+/.exec(rest) ?? silence.exec(rest);
  if (blank) return { kind: "nothing", length: blank[0].length };
  if (rest.startsWith("&&")) return { kind: "and", length: 2 };
  if (/^[;\n]/.test(rest)) return { kind: "end", isLine: rest.startsWith("\n"), length: 1 };
  return readWord(rest);
}

/** Literal characters, and globs. */
const plain = /^[\w./:=@%+,*?^\u00a0-\uffff-]+/;

function readWord(rest: string): Piece | undefined {
  let text = "";
  let at = 0;
  while (at < rest.length && !/^(?:[ \t\n;]|&&)/.test(rest.slice(at))) {
    const part = readPart(rest.slice(at));
    if (part === undefined) return undefined;
    text += part.text;
    at += part.length;
  }
  return { kind: "word", text, length: at };
}

function readPart(rest: string): { text: string; length: number } | undefined {
  const bare = plain.exec(rest);
  if (bare) return { text: bare[0], length: bare[0].length };
  const single = /^'([^']*)'/.exec(rest);
  if (single) return { text: single[1] ?? "", length: single[0].length };
  const double = /^"((?:[^"\\$`]|\\[^\n])*)"/.exec(rest);
  if (double) return { text: (double[1] ?? "").replace(/\\(["\\$`])/g, "$1"), length: double[0].length };
  return rest.startsWith("\\\n") ? { text: "", length: 2 } : undefined;
}
