// Reads a hook's command strictly: simple commands with the position of every word. What has another form is refused.

/** A word of the source text. The value is null where it is known only when the command runs. */
export interface ShellWord {
  start: number;
  end: number;
  value: string | null;
  /** What it expands that is not known: names of variables, `$(` for a command, `*` for a pattern. */
  unknown: string[];
  /** Whether the shell may make several words of it. */
  splits: boolean;
}

export interface SimpleCommand {
  /** `NAME=value` in front of the program. */
  assignments: ShellWord[];
  words: ShellWord[];
  /** Files that redirections write. */
  targets: ShellWord[];
  /** Neither conditional nor in a subshell: a change of directory lasts for the commands after it. */
  isSequential: boolean;
}

export type Variables = ReadonlyMap<string, string>;

/** Thrown with a sentence part: why a command cannot be pinned. */
export class Unpinnable extends Error {
  override name = "Unpinnable";
}

/** All commands that the text runs, in their order, also those inside `( )` and `$( )`. */
export function readCommands(source: string, variables: Variables): SimpleCommand[] {
  const reader: Reader = { source, at: 0, variables, unknown: [], commands: [], isSequential: true };
  readList(reader, "");
  return reader.commands;
}

interface Reader {
  source: string;
  at: number;
  variables: Variables;
  /** Of the word that is being read. */
  unknown: string[];
  commands: SimpleCommand[];
  isSequential: boolean;
}

const blank = /(?:[ \t\r]|\\\n)+|#[^\n]*/y;
const redirection = /\d*(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&|[<>])/y;
const separator = /&&|\|\||;;|\|&|[;|&\n]/y;

function readList(reader: Reader, closing: "" | ")"): void {
  let command = emptyCommand(reader);
  const finish = (isPiped: boolean) => {
    if (isPiped) reader.isSequential = false;
    command.isSequential = reader.isSequential;
    if (command.words.length + command.assignments.length > 0) reader.commands.push(command);
    command = emptyCommand(reader);
  };
  for (;;) {
    while (take(reader, blank)) {
      // Nothing between words counts.
    }
    const next = reader.source[reader.at] ?? "";
    if (next === closing) {
      reader.at += closing.length;
      finish(false);
      return;
    }
    if (next === "") throw new Unpinnable("a bracket is not closed");
    const redirected = take(reader, redirection);
    if (redirected) readTarget(reader, redirected, command);
    else if (next === "(") readSubshell(reader, command);
    else if (!readSeparator(reader, finish)) addWord(reader, command);
  }
}

const emptyCommand = ({ isSequential }: Reader): SimpleCommand => ({
  assignments: [],
  words: [],
  targets: [],
  isSequential,
});

function readSeparator(reader: Reader, finish: (isPiped: boolean) => void): boolean {
  const operator = take(reader, separator);
  if (operator === null) return false;
  if (operator === ";;") throw new Unpinnable("a case statement is not read");
  finish(/^(?:\||\|&|&)$/.test(operator));
  if (operator !== "&&" && operator !== ";" && operator !== "\n") reader.isSequential = false;
  return true;
}

function readSubshell(reader: Reader, { words, assignments }: SimpleCommand): void {
  if (reader.source.startsWith("((", reader.at)) throw new Unpinnable("arithmetic is not read");
  if (words.length + assignments.length > 0) throw new Unpinnable("a function or a list in brackets is not read");
  reader.at += 1;
  inSubshell(reader);
}

function inSubshell(reader: Reader): void {
  const { isSequential } = reader;
  reader.isSequential = false;
  readList(reader, ")");
  reader.isSequential = isSequential;
}

function readTarget(reader: Reader, operator: string, command: SimpleCommand): void {
  if (/<<-?$/.test(operator) && !operator.endsWith("<<<")) throw new Unpinnable("a here-document is not read");
  if (reader.source[reader.at] === "(") throw new Unpinnable("a process substitution is not read");
  take(reader, blank);
  const word = readWord(reader);
  if (word.start === word.end) throw new Unpinnable("a redirection has no target");
  if (operator.includes(">")) command.targets.push(word);
}

const keywords = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"]);
const unread = new Set(["for", "case", "select", "function", "coproc"]);

function addWord(reader: Reader, command: SimpleCommand): void {
  const word = readWord(reader);
  const text = reader.source.slice(word.start, word.end);
  if (word.start === word.end)
    throw new Unpinnable(`the character ${JSON.stringify(reader.source[reader.at])} is not read`);
  if (command.words.length > 0) return void command.words.push(word);
  if (/^\w+\+?=/.test(text)) return void command.assignments.push(word);
  if (unread.has(text)) throw new Unpinnable(`\`${text}\` is not read`);
  if (!keywords.has(text)) return void command.words.push(word);
  reader.isSequential = false;
}

/** Pieces without a gap between them. */
function readWord(reader: Reader): ShellWord {
  const start = reader.at;
  const outer = reader.unknown;
  const unknown: string[] = [];
  reader.unknown = unknown;
  let value: string | null = "";
  let splits = false;
  for (let at = start; ; at = reader.at) {
    const piece = readPiece(reader, start);
    if (piece === undefined) break;
    if (piece === null && reader.source[at] !== '"') splits = true;
    value = join(value, piece);
  }
  reader.unknown = outer;
  if (!expandsLater(reader.source.slice(start, reader.at))) return { start, end: reader.at, value, unknown, splits };
  return { start, end: reader.at, value: null, unknown: [...unknown, "*"], splits: true };
}

/** `{a,b}` is several words; zsh replaces `=name`. */
const expandsLater = (text: string): boolean =>
  (/[{}]/.test(unquoted(text)) && !/^[{}]$/.test(text)) || /^=(?![=~]?$)/.test(text);

const unquoted = (text: string): string => text.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\{\w+\}/gs, "");

const plain = /[\w@%+=:,./\]^-]+|#/y;

/** Undefined at the end of the word; null for a piece that is known only when the command runs. */
function readPiece(reader: Reader, start: number): string | null | undefined {
  const { source, at } = reader;
  const text = take(reader, plain);
  if (text !== null) return text;
  switch (source[at]) {
    case "'":
      return readQuoted(reader);
    case '"':
      return readDoubleQuoted(reader);
    case "$":
      if (source[at + 1] === '"') throw new Unpinnable('a translated string $"…" is not read');
      return readExpansion(reader);
    case "\\":
      reader.at += 2;
      return source[at + 1] === "\n" ? "" : (source[at + 1] ?? "");
    case "~":
      return readHome(reader, start);
    case "{":
    case "}":
    case "!":
      reader.at += 1;
      return source[at];
    case "[":
      return readBracket(reader, start);
    case "*":
    case "?":
      reader.at += 1;
      return notKnown(reader, "*");
    case "`":
      throw new Unpinnable("a command in backticks is not read");
  }
  return undefined;
}

function readHome(reader: Reader, start: number): string | null {
  if (/^=~\s/.test(reader.source.slice(start, start + 3)) && reader.at === start + 1) {
    reader.at += 1;
    return "~";
  }
  const isHome = reader.at === start && /^~(?=[/\s;&|)]|$)/.test(reader.source.slice(reader.at, reader.at + 2));
  reader.at += 1;
  return (isHome ? reader.variables.get("HOME") : undefined) ?? notKnown(reader, "~");
}

function notKnown({ unknown }: Reader, name: string): null {
  unknown.push(name);
  return null;
}

/** The program `[` or `[[`; elsewhere the start of a pattern. */
function readBracket(reader: Reader, start: number): string | null {
  const program = /^\[{1,2}(?=\s)/.exec(reader.source.slice(reader.at))?.[0];
  reader.at += program?.length ?? 1;
  if (program !== undefined && reader.at - program.length === start) return program;
  return notKnown(reader, "*");
}

function readQuoted(reader: Reader): string {
  const end = reader.source.indexOf("'", reader.at + 1);
  if (end === -1) throw new Unpinnable("a quote is not closed");
  const text = reader.source.slice(reader.at + 1, end);
  reader.at = end + 1;
  return text;
}

const stringText = /(?:[^"\\$`]|\\.)+/sy;

function readDoubleQuoted(reader: Reader): string | null {
  let value: string | null = "";
  reader.at += 1;
  for (;;) {
    const text = take(reader, stringText);
    const next = reader.source[reader.at];
    if (text !== null) value = value === null ? null : value + text.replace(/\\(["\\$`])|\\\n/g, "$1");
    else if (next === "$") value = join(value, readExpansion(reader));
    else if (next === "`") throw new Unpinnable("a command in backticks is not read");
    else if (next === undefined) throw new Unpinnable("a quote is not closed");
    else break;
  }
  reader.at += 1;
  return value;
}

const join = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? null : one + other;

const variable = /\$(?:(\w+)|\{(\w+)\}|[@*#?$!-])/y;

function readExpansion(reader: Reader): string | null {
  const { source, at, variables } = reader;
  if (source.startsWith("$((", at)) throw new Unpinnable("arithmetic is not read");
  if (source.startsWith("$(", at)) {
    reader.at += 2;
    inSubshell(reader);
    return notKnown(reader, "$(");
  }
  variable.lastIndex = at;
  const match = variable.exec(source);
  if (match === null && /^\$(?:[\s"]|$)/.test(source.slice(at, at + 2))) {
    reader.at += 1;
    return "$";
  }
  if (match === null) throw new Unpinnable(`the expansion ${source.slice(at, at + 12)} is not read`);
  reader.at += match[0].length;
  const name = match[1] ?? match[2] ?? match[0].slice(1);
  return variables.get(name) ?? notKnown(reader, name);
}

function take(reader: Reader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.source);
  if (match === null) return null;
  reader.at += match[0].length;
  return match[0];
}
