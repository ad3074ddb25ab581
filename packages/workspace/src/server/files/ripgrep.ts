// Searches with ripgrep, started without a shell and always gone when this settles.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { SearchResult } from "@agentcli/protocol";
import { findProgram } from "../../programs/index.ts";
import { fileFault } from "./fault.ts";
import { bytesToKeep, type RawLine, showLine, splitLines } from "./lines.ts";
import { matchList, type SearchTask, shownCharacters, skippedNames } from "./search-task.ts";

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
    if (match !== null && matches.add(match) === "enough") child.kill("SIGKILL");
  });
  child.stdout.on("data", lines.write);
  const stderr = collectStart(child.stderr);
  const [exitCode] = await once(child, "close");
  clearTimeout(timer);
  lines.end();
  const result = matches.result();
  const refused = exitCode === 2 && result.matches.length === 0 && !onlyAboutFiles(stderr());
  return refused ? fileFault("search", task.path, { code: "invalid", reason: reasonIn(stderr()) }) : result;
}

function argumentsFor(task: SearchTask): string[] {
  const globs = [...(task.include === undefined ? [] : [task.include]), ...skippedNames.map((name) => `!${name}`)];
  return [
    ...["--no-config", "--hidden", "--crlf", "--engine=auto", "--color=never", "--sort=path"],
    ...["--line-number", "--no-heading", "--with-filename", "--null"],
    ...globs.map((glob) => `--glob=${glob}`),
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

// With --null a match is `path NUL number : text`; notes about binary files have no such start.
function readMatch(line: RawLine) {
  const pathEnd = line.head.indexOf(0);
  const textStart = line.head.indexOf(":", pathEnd) + 1;
  if (pathEnd === -1 || textStart === 0) return null;
  const number = line.head.toString("utf8", pathEnd + 1, textStart - 1);
  if (!/^\d+$/.test(number)) return null;
  const path = line.head.toString("utf8", 0, pathEnd);
  const text = showLine({ head: line.head.subarray(textStart), bytes: line.bytes - textStart }, shownCharacters);
  return { path: path.startsWith("./") ? path.slice(2) : path, line: Number(number), text };
}

const maxPathBytes = 4096;
const maxKeptBytes = maxPathBytes + 20 + bytesToKeep(shownCharacters);

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
