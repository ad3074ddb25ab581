// Parts of shell code that are more than a simple command: loops, case statements, functions, lists, here-documents.
import { blank, type Reader, type ShellWord, type SimpleCommand, take, Unpinnable } from "./shell-reader.ts";
import { readExpansion, readWord } from "./shell-words.ts";

/** `for NAME in WORDS`: as a command that sets the variable. What the loop runs follows as other commands. */
export function readFor(reader: Reader): SimpleCommand {
  skipBlanks(reader);
  const name = readWord(reader);
  if (name.value === null || !/^[A-Za-z_]\w*$/.test(name.value)) throw new Unpinnable("this form of `for` is not read");
  skipLines(reader);
  if (take(reader, /in(?=[ \t\n;])/y)) {
    do skipBlanks(reader);
    while (readWord(reader).start !== reader.at);
  }
  reader.isSequential = false;
  return { assignments: [name], words: [], targets: [], isSequential: false };
}

/** The patterns of the next branch, or the end of the statement. */
export function readCase(reader: Reader, branch: "first" | "next" = "next"): void {
  if (branch === "first") {
    skipBlanks(reader);
    readWord(reader);
    skipLines(reader);
    if (!take(reader, /in(?=\s)/y)) throw new Unpinnable("this form of `case` is not read");
    reader.cases += 1;
  } else if (reader.cases === 0) throw new Unpinnable("`;;` outside of a case statement is not read");
  reader.isSequential = false;
  skipLines(reader);
  if (take(reader, /esac(?=[\s;&|)]|$)/y)) {
    reader.cases -= 1;
    reader.nesting -= 1;
    return;
  }
  take(reader, /\(/y);
  do {
    skipBlanks(reader);
    if (readWord(reader).start === reader.at) throw new Unpinnable("a pattern of a case statement is not read");
    skipBlanks(reader);
  } while (take(reader, /\|/y));
  if (!take(reader, /\)/y)) throw new Unpinnable("a pattern of a case statement is not read");
}

/** `name()` or `function name`: its body follows. False if it is none. */
export function readFunction(reader: Reader, text: string): boolean {
  const name = text === "function" ? take(reader, /[ \t]+[\w:.-]+/y)?.trim() : text;
  const brackets = take(reader, /[ \t]*\([ \t]*\)/y);
  if (text !== "function" && brackets === null) return false;
  if (name === undefined || !/^[A-Za-z_][\w:.-]*$/.test(name))
    throw new Unpinnable("this form of a function is not read");
  reader.functions.add(name);
  skipLines(reader);
  if (!/[{(]/.test(reader.source[reader.at] ?? "")) throw new Unpinnable("this form of a function is not read");
  return true;
}

/** `NAME=(a b)`: the words of an array; otherwise the assignment as it is. */
export function readList(reader: Reader, word: ShellWord): ShellWord {
  if (!reader.source.slice(word.start, word.end).endsWith("=") || !take(reader, /\(/y)) return word;
  do skipLines(reader);
  while (readWord(reader).start !== reader.at);
  if (!take(reader, /\)/y)) throw new Unpinnable("a list in brackets is not read");
  return { ...word, end: reader.at, value: null, unknown: ["*"], splits: false };
}

const documentText = /(?:[^\\$`]|\\.|\\$)+/sy;

/** The lines of a here-document: in one without quotes, commands and variables are expanded. */
export function readBody(reader: Reader, { end, isQuoted, stripsTabs }: Reader["documents"][number]): void {
  const start = reader.at;
  const { source } = reader;
  for (let isClosed = false, at = start; !isClosed; at = reader.at + 1) {
    if (at > source.length) throw new Unpinnable("a here-document is not closed");
    const next = source.indexOf("\n", at);
    reader.at = next === -1 ? source.length : next;
    const line = source.slice(at, reader.at);
    isClosed = (stripsTabs ? line.replace(/^\t+/, "") : line) === end;
  }
  if (isQuoted) return;
  const bodyEnd = Math.max(start, source.lastIndexOf("\n", reader.at - 1) + 1);
  const body: Reader = { ...reader, source: source.slice(0, bodyEnd), at: start, unknown: [] };
  while (body.at < body.source.length) {
    if (take(body, documentText) !== null) continue;
    if (body.source[body.at] === "`") throw new Unpinnable("a command in backticks is not read");
    readExpansion(body);
  }
}

function skipBlanks(reader: Reader): void {
  while (take(reader, blank)) {
    // Nothing between words counts.
  }
}

function skipLines(reader: Reader): void {
  do skipBlanks(reader);
  while (take(reader, /\n+/y));
}
