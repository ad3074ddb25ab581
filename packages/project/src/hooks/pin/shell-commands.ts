// Reads shell code strictly: simple commands with the position of every word. What has another form is refused.
import { readList as readArray, readBody, readCase, readFor, readFunction } from "./shell-compounds.ts";
import {
  blank,
  type KnownVariables,
  type Reader,
  type ShellCode,
  type ShellWord,
  type SimpleCommand,
  take,
  Unpinnable,
} from "./shell-reader.ts";
import { readWord } from "./shell-words.ts";

export function readCommands(source: string, known: KnownVariables): ShellCode {
  const reader: Reader = {
    source,
    at: 0,
    ...known,
    unknown: [],
    isQuoted: false,
    commands: [],
    functions: new Set(),
    isSequential: true,
    nesting: 0,
    cases: 0,
    readSubshell,
    documents: [],
  };
  try {
    readList(reader, "");
    if (reader.documents.length > 0) throw new Unpinnable("a here-document is not closed");
  } catch (error) {
    if (error instanceof RangeError) throw Object.assign(new Unpinnable("it is nested too deeply"), { at: 0 });
    if (error instanceof Unpinnable) error.at ??= reader.at;
    throw error;
  }
  return reader;
}

const redirection = /\d*(?:&>>?|<<<|<<-?|<>|>>|>\||[<>]&|[<>])/y;
const separator = /&&|\|\||;;&?|;&|\|&|[;|&\n]/y;

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
    else if (next === "(") readBrackets(reader, command);
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
  finish(/^(?:\||\|&|&)$/.test(operator));
  if (operator === "\n") for (const document of reader.documents.splice(0)) readBody(reader, document);
  if (operator.startsWith(";;") || operator === ";&") readCase(reader);
  else if (operator !== ";" && operator !== "\n") reader.isSequential &&= operator === "&&";
  else reader.isSequential = reader.nesting === 0;
  return true;
}

function readBrackets(reader: Reader, { words, assignments }: SimpleCommand): void {
  if (reader.source.startsWith("((", reader.at)) throw new Unpinnable("arithmetic is not read");
  if (words.length + assignments.length > 0) throw new Unpinnable("a list in brackets is not read");
  reader.at += 1;
  readSubshell(reader);
}

function readSubshell(reader: Reader): void {
  const { isSequential, cases, isQuoted } = reader;
  reader.isSequential = false;
  reader.isQuoted = false;
  reader.nesting += 1;
  reader.cases = 0;
  readList(reader, ")");
  reader.nesting -= 1;
  Object.assign(reader, { isSequential, cases, isQuoted });
}

function readTarget(reader: Reader, operator: string, command: SimpleCommand): void {
  if (reader.source[reader.at] === "(") throw new Unpinnable("a process substitution is not read");
  take(reader, blank);
  if (reader.source[reader.at + 1] === "(" && /[<>]/.test(reader.source[reader.at] ?? ""))
    throw new Unpinnable("a process substitution is not read");
  const word = readWord(reader);
  if (word.start === word.end) throw new Unpinnable("a redirection has no target");
  if (/<<-?$/.test(operator) && !operator.endsWith("<<<")) {
    if (word.value === null) throw new Unpinnable("the end of a here-document is not known");
    const isQuoted = /["'\\]/.test(reader.source.slice(word.start, word.end));
    reader.documents.push({ end: word.value, isQuoted, stripsTabs: operator.endsWith("-") });
  }
  if (operator.includes(">")) command.targets.push(word);
}

const keywords = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "esac"]);
const opens = new Set(["if", "while", "until", "for", "case", "{"]);
const closes = new Set(["fi", "done", "esac", "}"]);
const unread = new Set(["select", "coproc"]);

function addWord(reader: Reader, command: SimpleCommand): void {
  const word = takePattern(reader, command) ?? readWord(reader);
  const text = reader.source.slice(word.start, word.end);
  if (word.start === word.end)
    throw new Unpinnable(`the character ${JSON.stringify(reader.source[reader.at])} is not read`);
  if (command.words.length > 0) return void command.words.push(word);
  if (/^\w+\+?=/.test(text)) return void command.assignments.push(readArray(reader, word));
  if (command.assignments.length > 0) return void command.words.push(word);
  if (unread.has(text)) throw new Unpinnable(`\`${text}\` is not read`);
  if (readFunction(reader, text)) return;
  if (opens.has(text)) reader.nesting += 1;
  if (closes.has(text)) reader.nesting -= 1;
  if (text === "for") return void reader.commands.push(readFor(reader));
  if (text === "case") return void readCase(reader, "first");
  if (text === "esac") reader.cases -= 1;
  if (!keywords.has(text)) return void command.words.push(word);
  reader.isSequential = false;
}

const regularExpression = /(?:[^\s"'\\$`;&<>]|\\.|"[^"$`\\]*"|'[^']*'|\$(?:\w+|\{\w+\})|\$(?=[\s)|"]))+/y;

/** `[[ $x =~ ^(a|b)$ ]]`: brackets and bars are no operators there. */
function takePattern(reader: Reader, { words }: SimpleCommand): ShellWord | null {
  const start = reader.at;
  if (words[0]?.value !== "[[" || words.at(-1)?.value !== "=~" || take(reader, regularExpression) === null) return null;
  return { start, end: reader.at, value: null, unknown: ["*"], splits: false };
}
