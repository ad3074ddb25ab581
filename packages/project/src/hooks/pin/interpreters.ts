// Interpreters: the script or the code that they get, and the files that their options load.

import type { Language } from "./includes.ts";
import { checkInlineCode } from "./inline-code.ts";
import type { Interpreter } from "./programs.ts";
import { type CommandFiles, isOfWorkspace, known, type Reading } from "./reading.ts";
import { addOutside, addReference, readArguments } from "./references.ts";
import { type ShellWord, Unpinnable } from "./shell-reader.ts";

export interface NamedInterpreter {
  name: string;
  language: Language;
  shape: Interpreter;
}

export function readInterpreter(
  words: ShellWord[],
  { name, language, shape }: NamedInterpreter,
  reading: Reading,
): void {
  const given: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const text = known(words[at], `an argument of ${name}`, reading);
    if (shape.code.test(text) || !/^[-+]./.test(text)) break;
    given.push(text);
    if (shape.loads?.test(text)) readLoaded(words[++at], language, reading);
    else if (shape.valued?.test(text)) checkValue(words[++at], { option: text, name, shape }, reading);
    else if (!shape.options.test(text)) throw new Unpinnable(`the option ${text} of ${name} is not known`);
  }
  const option = words[at]?.value;
  if (option == null) throw new Unpinnable(`${name} reads its commands from standard input`);
  if (shape.code.test(option)) readCode(words.slice(at + 1), { language, shape, given: [...given, option] }, reading);
  else readScript(words.slice(at), language, reading);
}

function checkValue(
  word: ShellWord | undefined,
  { option, name, shape }: { option: string; name: string; shape: Interpreter },
  reading: Reading,
): void {
  if (shape.values && !shape.values.test(known(word, `the value of ${option}`, reading)))
    throw new Unpinnable(`the value of the option ${option} of ${name} is not known`);
}

function readScript([word, ...rest]: ShellWord[], language: Language, reading: Reading): void {
  const name = known(word, "the script", reading);
  if (name === "-") throw new Unpinnable("the commands are read from standard input");
  if (isOfWorkspace(name, reading)) addReference(word, reading, { language });
  else addOutside(name, reading);
  readArguments(rest, reading);
}

function readLoaded(word: ShellWord | undefined, language: Language, reading: Reading): void {
  const name = known(word, "the file to load", reading);
  if (!/^(?:\.{1,2})?\//.test(name)) throw new Unpinnable(`the package ${name} is loaded from the workspace`);
  if (isOfWorkspace(name, reading)) addReference(word, reading, { language });
  else addOutside(name, reading);
}

interface Code {
  language: Language;
  shape: Interpreter;
  given: string[];
}

function readCode([word, ...rest]: ShellWord[], { language, shape, given }: Code, reading: Reading): void {
  const code = known(word, "the code", reading);
  const { workspace } = reading;
  if (shape.codeNeeds && !given.some((option) => shape.codeNeeds?.test(option)))
    throw new Unpinnable("its code loads modules from the working directory; add the option -I");
  checkInlineCode(code, language, workspace.variables);
  if (language === "shell" && word) readShellCode(word, code, reading);
  if (shape.optionsFollowCode) refuseOption(rest[0], given.at(-1));
  readArguments(rest, reading);
}

/** Also a word that only the run shows, such as the path of a tool call: it could be `--require=./x.js`. */
function refuseOption(word: ShellWord | undefined, option = ""): void {
  const text = word === undefined ? "" : word.value;
  if (text === null || (/^-/.test(text) && text !== "--"))
    throw new Unpinnable(
      `the word after the code of ${option} could be an option that loads a file; write -- in front of it`,
    );
}

/** Code inside of code: what it names is replaced there. */
export function readShellCode(word: ShellWord, code: string, reading: Reading): void {
  const { workspace, found, directories, readInner } = reading;
  const inner: CommandFiles = { ...found, edits: [] };
  readInner(code, { ...workspace, directories }, inner);
  if (inner.edits.length > 0)
    found.edits.push({ start: word.start, end: word.end, by: { script: code, edits: inner.edits } });
}
