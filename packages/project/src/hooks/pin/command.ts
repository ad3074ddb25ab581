// Which files of the workspace a hook's command runs, and where it names them. Refuses what cannot be determined.

import { basename, isAbsolute, resolve } from "node:path";
import { anyName, type Call, checkOneWord } from "./arguments.ts";
import { checkVariable } from "./builtins.ts";
import { readWithConstants } from "./constants.ts";
import { firstBytes, isFile, realPath, type Workspace } from "./files.ts";
import { type Language, languageOf, mayLoad } from "./includes.ts";
import { checkInlineCode } from "./inline-code.ts";
import { judgedPrograms } from "./judged.ts";
import { checkIsOwn, checkLocation, checkWritten, generalTools } from "./outside.ts";
import { harmless, type Interpreter, interpreters, wrappers, writers } from "./programs.ts";
import { type ShellWord, type SimpleCommand, Unpinnable } from "./shell-reader.ts";
import { quote } from "./shell-words.ts";

/** A part of the command that is replaced: by the path of a file's copy, or by an inner script with its own edits. */
export interface Edit {
  start: number;
  end: number;
  by: { path: string } | { script: string; edits: Edit[] };
}

export interface Reference {
  path: string;
  language: Language;
  /** Base directories of relative paths when it runs. */
  directories: string[];
  /** Read by the shell that names it: its functions are functions there. */
  isSourced: boolean;
}

export interface CommandFiles {
  references: Reference[];
  edits: Edit[];
  /** Variables that get their values in the command, by whether they are always numbers. */
  assigned: Map<string, "number" | "text">;
  functions: Set<string>;
  /** Names that have to be functions of a script that is read with this one, and where they are. */
  calls: { name: string; at: number }[];
  /** Scripts whose first line is being read. */
  firstLines: string[];
}

export const noFiles = (): CommandFiles => ({
  references: [],
  edits: [],
  assigned: new Map(),
  functions: new Set(),
  calls: [],
  firstLines: [],
});

/** Fills `found`, so that it is usable even if a later part of the command is refused. Throws Unpinnable. */
export function readCommandFiles(source: string, workspace: Workspace, found: CommandFiles): void {
  const { directories } = workspace;
  const reading: Reading = { source, workspace, found, directories, at: 0, words: [], ran: [], written: [] };
  const { commands, functions } = readWithConstants(source, workspace.variables);
  for (const name of functions) addFunction(name, found);
  for (const command of commands) collectAssigned(command, reading);
  for (const command of commands) {
    reading.at = (command.assignments[0] ?? command.words[0])?.start ?? 0;
    try {
      readCommand(command, reading);
    } catch (error) {
      if (error instanceof Unpinnable) error.at = reading.at;
      throw error;
    }
  }
  checkWritten(reading.ran, reading.written);
  editOtherWords(reading);
}

function readCommand({ assignments, words, targets, isSequential }: SimpleCommand, reading: Reading): void {
  const [program] = words;
  // The separators of `read` alone.
  const isReading = program?.value === "read";
  for (const word of assignments)
    if (!isReading || !textOf(word, reading).startsWith("IFS=")) checkAssignment(word, reading);
  if (program?.value === "cd") changeDirectory(words, isSequential, reading);
  else readProgram(words, reading);
  collectWritten(writers.has(basename(program?.value ?? "")) ? [...words, ...targets] : targets, reading);
  reading.words.push(...words.map((word) => ({ word, directories: reading.directories })));
}

function addFunction(name: string, { functions }: CommandFiles): void {
  if (isKnownProgram(name)) throw new Unpinnable(`a function has the name of the program ${name}`);
  functions.add(name);
}

const isKnownProgram = (name: string): boolean =>
  ["cd", ".", "source", "trap"].includes(name) ||
  harmless.has(name) ||
  wrappers.has(name) ||
  judgedPrograms.has(name) ||
  interpreters.some(({ names }) => names.test(name));

interface Reading {
  source: string;
  workspace: Workspace;
  found: CommandFiles;
  /** Base directories of relative paths, at this point of the command. */
  directories: string[];
  words: { word: ShellWord; directories: string[] }[];
  /** Where the command is that is being read. */
  at: number;
  /** Files outside the workspace that are run, and files that are written. */
  ran: string[];
  written: string[];
}

/** All of them before any is used: in a loop the last one counts too. */
function collectAssigned({ assignments, words: [program, ...rest] }: SimpleCommand, reading: Reading): void {
  const { assigned } = reading.found;
  if (program?.value === "." || program?.value === "source") assigned.set(anyName, "text");
  const isSetting = /^(?:export|local|readonly|read|env)$/.test(program?.value ?? "");
  for (const word of isSetting ? [...assignments, ...rest] : assignments) {
    const [name = "", ...value] = textOf(word, reading).split(/\+?=/);
    const kind = isNumberText(value.join("=")) && !textOf(word, reading).includes("+=") ? "number" : "text";
    if (kind === "text" || !assigned.has(name)) assigned.set(name, kind);
  }
}

const isNumberText = (text: string): boolean => /^(?:\d+|"?\$[?#!$]"?)$/.test(text);

function collectWritten(words: ShellWord[], { directories, written }: Reading): void {
  for (const { value } of words)
    if (value !== null && value !== "")
      written.push(
        ...directories.map((directory) => resolve(directory, value)).flatMap((path) => [path, realPath(path)]),
      );
}

const textOf = ({ start, end }: ShellWord, { source }: Reading): string => source.slice(start, end);

/** The text of a word that has to be known. */
function known(word: ShellWord | undefined, what: string, reading: Reading): string {
  if (word === undefined) throw new Unpinnable(`${what} is missing`);
  if (word.value === null) throw new Unpinnable(`${what} \`${textOf(word, reading)}\` is known only when it runs`);
  return word.value;
}

function checkAssignment(word: ShellWord, reading: Reading): void {
  const [name = ""] = textOf(word, reading).split(/\+?=/);
  checkVariable(name);
}

/** Also where the directory is missing: every file is named by its full path afterwards. */
function changeDirectory(words: ShellWord[], isSequential: boolean, reading: Reading): void {
  const [, target, ...rest] = words;
  const directory = known(target, "the directory of cd", reading);
  if (!isSequential || rest.length > 0 || directory.startsWith("-"))
    throw new Unpinnable("the directory that cd changes to depends on what happens before");
  reading.directories = reading.directories.map((base) => resolve(base, directory));
}

function readProgram(words: ShellWord[], reading: Reading): void {
  const [word, ...rest] = words;
  if (word === undefined) return;
  const program = known(word, "the program", reading);
  if (program.includes("/") && isOfWorkspace(program, reading)) {
    addReference(word, reading);
    readArguments(rest, reading);
  } else readKnownProgram(program, rest, reading);
}

/** By the name, wherever the program is. One of another name has to belong to the user. */
function readKnownProgram(program: string, rest: ShellWord[], reading: Reading): void {
  const name = basename(program);
  if (program.includes("/")) checkLocation(resolve(program));
  const interpreter = interpreters.find(({ names }) => names.test(name));
  const judge = judgedPrograms.get(name);
  if (interpreter) readInterpreter(rest, { ...interpreter, name }, reading);
  else if (wrappers.has(name)) readWrapper(name, rest, reading);
  else if (name === "." || name === "source") readSourced(rest, reading);
  else if (name === "trap") readTrap(rest, reading);
  else if (judge) judge(callOf(name, rest, reading));
  else if (harmless.has(name)) return;
  else if (program.includes("/")) {
    addOutside(program, reading);
    readOutsideArguments(program, rest, reading);
  } else if (generalTools.has(name)) throw unknownProgram(name);
  else if (!reading.found.functions.has(name)) reading.found.calls.push({ name, at: reading.at });
}

export const unknownProgram = (name: string): Unpinnable =>
  new Unpinnable(`what \`${name}\` runs or loads from the workspace is not known`);

const callOf = (name: string, words: ShellWord[], reading: Reading): Call => ({
  name,
  words,
  textOf: (word: ShellWord) => textOf(word, reading),
  assigned: reading.found.assigned,
});

/** A program or script outside the workspace, which the user wrote or installed. */
function addOutside(name: string, reading: Reading): void {
  const given = candidates(name, reading);
  for (const path of given) checkLocation(path);
  checkIsOwn(
    name,
    given.flatMap((path) => [path, realPath(path)]),
  );
  const path = locate(name, reading);
  if (path === null) throw new Unpinnable(`${name} does not exist`);
  checkLocation(path);
  reading.ran.push(path, ...given);
}

function readWrapper(name: string, words: ShellWord[], reading: Reading): void {
  const { options, valued, operands = 0 } = wrappers.get(name) ?? { options: /^$/ };
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] as ShellWord;
    if (name === "env" && /^\w+=/.test(textOf(word, reading))) {
      checkAssignment(word, reading);
      checkOneWord(word, callOf(name, words, reading));
      continue;
    }
    const text = known(word, `an option of ${name}`, reading);
    if (!text.startsWith("-")) break;
    if (valued?.test(text)) at++;
    else if (name === "command" && /^-[vV]$/.test(text)) return;
    else if (!options.test(text)) throw new Unpinnable(`the option ${text} of ${name} is not known`);
  }
  for (const word of words.slice(at, at + operands)) known(word, `an operand of ${name}`, reading);
  readProgram(words.slice(at + operands), reading);
}

function readSourced([script, ...rest]: ShellWord[], reading: Reading): void {
  const name = known(script, "the script", reading);
  if (!isOfWorkspace(name, reading)) addOutside(name, reading);
  else addReference(script, reading, { language: "shell", isSourced: true });
  readArguments(rest, reading);
}

/** `trap 'code' EXIT` */
function readTrap([word]: ShellWord[], reading: Reading): void {
  const code = known(word, "the code of trap", reading);
  if (word && code !== "-") readShellCode(word, code, reading);
}

interface NamedInterpreter {
  name: string;
  language: Language;
  shape: Interpreter;
}

function readInterpreter(words: ShellWord[], { name, language, shape }: NamedInterpreter, reading: Reading): void {
  const given: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const text = known(words[at], `an argument of ${name}`, reading);
    if (shape.code.test(text) || !/^[-+]./.test(text)) break;
    given.push(text);
    if (shape.loads?.test(text)) readLoaded(words[++at], language, reading);
    else if (shape.valued?.test(text)) at++;
    else if (!shape.options.test(text)) throw new Unpinnable(`the option ${text} of ${name} is not known`);
  }
  const option = words[at]?.value;
  if (option == null) throw new Unpinnable(`${name} reads its commands from standard input`);
  if (shape.code.test(option)) readCode(words.slice(at + 1), { language, shape, given: [...given, option] }, reading);
  else readScript(words.slice(at), language, reading);
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
  const loaded = mayLoad(code, language, workspace);
  if (loaded !== null) throw new Unpinnable(`its code loads ${loaded} from the workspace`);
  const starts = shape.codeWithout?.exec(code)?.[0];
  if (starts !== undefined) throw new Unpinnable(`its code can run or load files (${starts})`);
  checkInlineCode(code, language, workspace.variables);
  if (language === "shell" && word) readShellCode(word, code, reading);
  readArguments(rest, reading);
}

/** Code inside of code: what it names is replaced there. */
function readShellCode(word: ShellWord, code: string, { workspace, found, directories }: Reading): void {
  const inner: CommandFiles = { ...found, edits: [] };
  readCommandFiles(code, { ...workspace, directories }, inner);
  if (inner.edits.length > 0)
    found.edits.push({ start: word.start, end: word.end, by: { script: code, edits: inner.edits } });
}

/** An argument that is a program of the workspace may be run; any other is data. */
function readArguments(words: ShellWord[], reading: Reading): void {
  for (const word of words) if (isProgram(word.value, reading)) addReference(word, reading);
}

/** A program of the user may run any script that an argument names. One inside of a word cannot be replaced by its copy. */
function readOutsideArguments(program: string, words: ShellWord[], reading: Reading): void {
  const isScript = (name: string) => scriptName.test(name) && locateOwn(name, reading) !== null;
  for (const word of words) {
    const value = word.value ?? "";
    const inner = value.startsWith("-") ? (/[=:](.+)$/s.exec(value)?.[1] ?? "") : "";
    if (isScript(inner) || isProgram(inner, reading))
      throw new Unpinnable(`${program} may run ${inner}; write its name as a word of its own instead of ${value}`);
    if (isProgram(value, reading)) addReference(word, reading);
    else if (isScript(value)) addReference(word, reading, { language: languageOf(value, "") });
  }
}

const scriptName = /\.(?:[mc]?[jt]s|(?:ba|z|k)?sh|p[yl]|rb)$/;
const isProgram = (name: string | null, reading: Reading): boolean =>
  firstBytes(locateOwn(name ?? "", reading) ?? "", 2) === "#!";
const locateOwn = (name: string, reading: Reading): string | null =>
  name !== "" && isOfWorkspace(name, reading) ? locate(name, reading) : null;

const candidates = (name: string, { directories }: Reading): string[] =>
  isAbsolute(name) ? [resolve(name)] : directories.map((directory) => resolve(directory, name));

function locate(name: string, reading: Reading): string | null {
  const found = candidates(name, reading).find(isFile);
  return found === undefined ? null : reading.workspace.pathOf(found);
}

function isOfWorkspace(name: string, reading: Reading): boolean {
  const found = locate(name, reading);
  const paths = found === null ? candidates(name, reading) : [found];
  return paths.some((path) => reading.workspace.isInside(path));
}

interface ReferenceOptions {
  language?: Language;
  isSourced?: boolean;
}

function addReference(word: ShellWord | undefined, reading: Reading, options: ReferenceOptions = {}): void {
  const { language, isSourced = false } = options;
  const name = known(word, "the file", reading);
  const path = locate(name, reading);
  if (path === null) throw new Unpinnable(`there is no file ${name}`);
  const start = firstBytes(path, 256);
  if (language === undefined && start.startsWith("#!")) checkFirstLine(start, path, reading);
  if (language === undefined && start.includes("\0"))
    throw new Unpinnable(`what the program ${name} of the workspace runs or loads is not known`);
  const { directories } = reading;
  reading.found.references.push({ path, language: language ?? languageOf(path, start), directories, isSourced });
  if (word) reading.found.edits.push({ start: word.start, end: word.end, by: { path } });
}

/** The interpreter of a script is judged as if it were written in the command; it cannot be a file of the workspace. */
function checkFirstLine(start: string, path: string, { workspace, found }: Reading): void {
  // One that gets its own script as an argument ends here.
  if (found.firstLines.includes(path)) return;
  const [line = ""] = start.slice(2).split("\n");
  const interpreter = line.trim().replace(/^(\S+\/env) -S /, "$1 ");
  const isOfWorkspaceOrRelative = interpreter
    .split(/[ \t]+/)
    .some((word, index) => (index === 0 || word.includes("/")) && (!isAbsolute(word) || workspace.isInside(word)));
  if (isOfWorkspaceOrRelative) throw new Unpinnable(`the interpreter of ${path}, ${interpreter}, is in the workspace`);
  const inner = { ...noFiles(), firstLines: [...found.firstLines, path] };
  readCommandFiles(`${interpreter} ${quote(path)}`, workspace, inner);
  for (const { name } of inner.calls) throw unknownProgram(name);
}

/** `test -x F && F`: whatever else names the same file means the copy too. */
function editOtherWords(reading: Reading): void {
  const { words, found } = reading;
  const isEdited = ({ start }: ShellWord) => found.edits.some((edit) => edit.start === start);
  for (const { word, directories } of words) {
    if (word.value === null || word.value === "" || isEdited(word)) continue;
    const path = locate(word.value, { ...reading, directories });
    if (path !== null && found.references.some((reference) => reference.path === path))
      found.edits.push({ start: word.start, end: word.end, by: { path } });
  }
}

/** The command with every file replaced by its copy. */
export function applyEdits(source: string, edits: Edit[], copyOf: (path: string) => string): string {
  const inOrder = [...edits].sort((one, other) => other.start - one.start);
  return inOrder.reduce((text, { start, end, by }) => {
    const value = "path" in by ? copyOf(by.path) : applyEdits(by.script, by.edits, copyOf);
    return `${text.slice(0, start)}${quote(value)}${text.slice(end)}`;
  }, source);
}
