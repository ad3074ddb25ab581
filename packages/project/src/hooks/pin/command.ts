// Which files of the workspace a hook's command runs, and where it names them. Refuses what cannot be determined.
import { basename, resolve } from "node:path";
import { anyName, checkOneWord } from "./arguments.ts";
import { checkVariable } from "./builtins.ts";
import { readWithConstants } from "./constants.ts";
import { realPath, type Workspace } from "./files.ts";
import { readInterpreter, readShellCode } from "./interpreters.ts";
import { judgedPrograms } from "./judged.ts";
import { checkLocation, checkWritten, generalTools } from "./outside.ts";
import { harmless, interpreters, optionsOfNode, wrappers, writers } from "./programs.ts";
import { type CommandFiles, callOf, isOfWorkspace, known, type Reading, textOf, unknownProgram } from "./reading.ts";
import { addOutside, addReference, editOtherWords, readArguments, readOutsideArguments } from "./references.ts";
import { type ShellWord, type SimpleCommand, Unpinnable } from "./shell-reader.ts";

/** Fills `found`, so that it is usable even if a later part of the command is refused. Throws Unpinnable. */
export function readCommandFiles(source: string, workspace: Workspace, found: CommandFiles): void {
  const { directories } = workspace;
  const reading: Reading = {
    source,
    workspace,
    found,
    directories,
    at: 0,
    words: [],
    ran: [],
    written: [],
    readInner: readCommandFiles,
  };
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

function checkAssignment(word: ShellWord, reading: Reading): void {
  const [name = ""] = textOf(word, reading).split(/\+?=/);
  checkVariable(name);
}

/** No system opens a longer one. */
const maxPath = 4096;

/** Also where the directory is missing: every file is named by its full path afterwards. */
function changeDirectory(words: ShellWord[], isSequential: boolean, reading: Reading): void {
  const [, target, ...rest] = words;
  const directory = known(target, "the directory of cd", reading);
  if (!isSequential || rest.length > 0 || directory.startsWith("-"))
    throw new Unpinnable("the directory that cd changes to depends on what happens before");
  reading.directories = reading.directories.map((base) => resolve(base, directory));
  if (reading.directories.some(({ length }) => length > maxPath))
    throw new Unpinnable("the directory that cd changes to has too long a path");
}

function readProgram(words: ShellWord[], reading: Reading): void {
  const [word, ...rest] = words;
  if (word === undefined) return;
  const program = known(word, "the program", reading);
  if (program.includes("/") && isOfWorkspace(program, reading)) {
    addReference(word, reading, { isProgram: true });
    readArguments(rest, reading);
    return;
  }
  readKnownProgram(program, rest, reading);
  if (isNode(basename(program)))
    reading.found.edits.push({ start: word.end, end: word.end, by: { words: optionsOfNode } });
}

const isNode = (name: string): boolean =>
  interpreters.some(({ names, language }) => language === "javascript" && names.test(name));

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
  else if (judge) {
    if (name === "agentcli") checkDirectory(reading);
    judge(callOf(name, rest, reading));
  } else if (harmless.has(name)) return;
  else if (program.includes("/")) {
    addOutside(program, reading);
    readOutsideArguments(program, rest, reading);
  } else if (generalTools.has(name)) throw unknownProgram(name);
  else if (!reading.found.functions.has(name)) reading.found.calls.push({ name, at: reading.at });
}

/** The directory in which a sandbox begins is writable in it. */
function checkDirectory({ directories, workspace }: Reading): void {
  const other = directories.find((directory) => !workspace.isInside(directory));
  if (other !== undefined) throw new Unpinnable(`the sandbox could write to ${other}, which is not in the workspace`);
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
