// Searches with ripgrep, started without a shell and always gone when this settles.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { SearchResult } from "@agentcli/protocol";
import { findProgram } from "../../programs/index.ts";
import { fileFault } from "./fault.ts";
import { bytesToKeep, lineWindow, type RawLine, showLine, splitLines } from "./lines.ts";
import { readRegular } from "./regular.ts";
import { type Match, matchList, maxFileBytes, type SearchTask, shownCharacters, skippedNames } from "./search-task.ts";

/** Null when ripgrep cannot be started here. */
export async function searchWithRipgrep(task: SearchTask): Promise<SearchResult | null> {
  const program = findProgram("rg", { path: process.env.PATH ?? "", untrusted: task.untrusted });
  if (program === undefined) return null;
  const child = spawn(program, argumentsFor(task), { cwd: task.root, stdio: ["ignore", "pipe", "pipe"] });
  if (!(await started(child))) return null;
  const matches = matchList(task.limit);
  const timer = setTimeout(() => {
    matches.cutShort();
    child.kill("SIGKILL");
  }, task.timeoutMs);
  const lines = splitLines(maxKeptBytes, (line) => {
    const match = readMatch(line);
    if (match === null || !task.isWanted(match.path) || (task.filesOnly && matches.has(match.path))) return;
    if (matches.add(match) === "enough") child.kill("SIGKILL");
  });
  child.stdout.on("data", lines.write);
  const stderr = collectStart(child.stderr);
  const [exitCode] = await once(child, "close");
  clearTimeout(timer);
  lines.end();
  const result = await centred(task, matches.result());
  const refused = exitCode === 2 && result.matches.length === 0 && !onlyAboutFiles(stderr());
  return refused ? fileFault("search", task.path, { code: "invalid", reason: reasonIn(stderr()) }) : result;
}

function argumentsFor(task: SearchTask): string[] {
  const globs = skippedNames.map((name) => `!${name}`);
  return [
    ...["--no-config", "--hidden", "--crlf", "--engine=auto", "--color=never", "--sort=path"],
    // The rules that the walk knows: .gitignore files, inside of a repository.
    ...["--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot"],
    ...["--line-number", "--column", "--no-heading", "--with-filename", "--null"],
    ...(task.filesOnly ? ["--max-count=1"] : []),
    ...globs.map((glob) => `--glob=${glob}`),
    // Not `--glob`, which would also find what git ignores. The caller decides; this only saves reading other files.
    ...task.nameGlobs.map((glob) => `--type-add=wanted:${glob}`),
    ...(task.nameGlobs.length > 0 ? ["--type=wanted"] : []),
    `--regexp=${task.pattern}`,
    "--",
    task.path,
  ];
}

async function started(child: ChildProcessByStdio<null, Readable, Readable>): Promise<boolean> {
  try {
    await once(child, "spawn");
    return true;
  } catch {
    // Not installed or not executable: the caller walks instead.
    return false;
  }
}

interface FoundLine extends Match {
  /** Where the match begins, in bytes from 0, if the line is too long to be shown. */
  column?: number;
}

// With --null a match is `path NUL number : column : text`; notes about binary files have no such start.
function readMatch(line: RawLine): FoundLine | null {
  const pathEnd = line.head.indexOf(0);
  if (pathEnd === -1) return null;
  const position = /^(\d+):(\d+):/.exec(line.head.toString("latin1", pathEnd + 1, pathEnd + 1 + maxNumberLength));
  if (position === null) return null;
  const textStart = pathEnd + 1 + position[0].length;
  const path = line.head.toString("utf8", 0, pathEnd);
  const text = showLine({ head: line.head.subarray(textStart), bytes: line.bytes - textStart }, shownCharacters);
  const isCut = line.bytes - textStart > shownCharacters;
  return {
    path: path.startsWith("./") ? path.slice(2) : path,
    line: Number(position[1]),
    text,
    ...(isCut && { column: Number(position[2]) - 1 }),
  };
}

/** Long lines by the part with the match, read from the file: only the beginning of a line is kept above. */
async function centred(
  task: SearchTask,
  { matches, ...rest }: { kind: "matches"; matches: FoundLine[]; cut: boolean },
) {
  const lines = new Map<string, Buffer[]>();
  const shown: Match[] = [];
  for (const { column, ...match } of matches) {
    if (column === undefined) {
      shown.push(match);
      continue;
    }
    const file = resolve(task.root, match.path);
    const texts = lines.get(file) ?? (await linesOf(file));
    lines.set(file, texts);
    const text = texts[match.line - 1];
    shown.push(text === undefined ? match : { ...match, text: windowAt(text, column) });
  }
  return { ...rest, matches: shown };
}

const windowAt = (line: Buffer, column: number): string =>
  lineWindow(line.toString("utf8").replace(/\r$/, ""), line.toString("utf8", 0, column).length, shownCharacters);

async function linesOf(file: string): Promise<Buffer[]> {
  const content = await readRegular(file, maxFileBytes);
  if (content.kind === "unreadable") return [];
  const lines: Buffer[] = [];
  const splitter = splitLines(Infinity, ({ head }) => lines.push(head));
  splitter.write(content.bytes);
  splitter.end();
  return lines;
}

const maxNumberLength = 40;

const maxPathBytes = 4096;
const maxKeptBytes = maxPathBytes + maxNumberLength + bytesToKeep(shownCharacters);

function collectStart(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (piece: string) => {
    if (text.length < 8192) text += piece;
  });
  return () => text.trim();
}

/** Files that cannot be read are passed over, as in the walk; anything else ripgrep says is about the request. */
const onlyAboutFiles = (stderr: string) => stderr.split("\n").every((line) => /\(os error \d+\)$/.test(line));

function reasonIn(stderr: string): string {
  const cause = /^error(?:: | parsing glob ).*$/m.exec(stderr)?.[0];
  return `the pattern or the include glob is not valid (${cause ?? stderr})`;
}
