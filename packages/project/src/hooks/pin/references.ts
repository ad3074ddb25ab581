// Files that a command names: those of the workspace become copies, those of the user stay where they are.
import { isAbsolute } from "node:path";
import { firstBytes, realPath } from "./files.ts";
import { type Language, languageOf } from "./includes.ts";
import { checkIsOwn, checkLocation } from "./outside.ts";
import { optionsOfNode } from "./programs.ts";
import {
  candidates,
  isProgram,
  known,
  locate,
  locateOwn,
  noFiles,
  type Reading,
  scriptName,
  unknownProgram,
} from "./reading.ts";
import { type ShellWord, Unpinnable } from "./shell-reader.ts";
import { quote } from "./shell-words.ts";

/** A program or script outside the workspace, which the user wrote or installed. */
export function addOutside(name: string, reading: Reading): void {
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

/** An argument that is a program of the workspace may be run; any other is data. */
export function readArguments(words: ShellWord[], reading: Reading): void {
  for (const word of words) if (isProgram(word.value, reading)) addReference(word, reading);
}

/** A program of the user may run any script that an argument names. One inside of a word cannot be replaced by its copy. */
export function readOutsideArguments(program: string, words: ShellWord[], reading: Reading): void {
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

interface ReferenceOptions {
  language?: Language;
  isSourced?: boolean;
  /** Run by itself, by the interpreter of its first line. */
  isProgram?: boolean;
}

export function addReference(word: ShellWord | undefined, reading: Reading, options: ReferenceOptions = {}): void {
  const { language, isSourced = false, isProgram: isRun = false } = options;
  const name = known(word, "the file", reading);
  const path = locate(name, reading);
  if (path === null) throw new Unpinnable(`there is no file ${name}`);
  const start = firstBytes(path, 256);
  if (language === undefined && start.startsWith("#!")) checkFirstLine(start, path, reading);
  if (language === undefined && start.includes("\0"))
    throw new Unpinnable(`what the program ${name} of the workspace runs or loads is not known`);
  const { directories } = reading;
  const read = language ?? languageOf(path, start);
  reading.found.references.push({ path, language: read, directories, isSourced });
  const isOfNode = isRun && read === "javascript" && start.startsWith("#!");
  const by = isOfNode
    ? {
        path,
        with: [
          ...interpreterOf(start)
            .split(/[ \t]+/)
            .map(quote),
          ...optionsOfNode,
        ],
      }
    : { path };
  if (word) reading.found.edits.push({ start: word.start, end: word.end, by });
}

/** The first line, as words. */
const interpreterOf = (start: string): string =>
  (start.slice(2).split("\n", 1)[0] ?? "").trim().replace(/^(\S+\/env) -S /, "$1 ");

/** The interpreter of a script is judged as if it were written in the command; it cannot be a file of the workspace. */
function checkFirstLine(start: string, path: string, { workspace, found, readInner }: Reading): void {
  // One that gets its own script as an argument ends here.
  if (found.firstLines.includes(path)) return;
  const interpreter = interpreterOf(start);
  const isOfWorkspaceOrRelative = interpreter
    .split(/[ \t]+/)
    .some((word, index) => (index === 0 || word.includes("/")) && (!isAbsolute(word) || workspace.isInside(word)));
  if (isOfWorkspaceOrRelative) throw new Unpinnable(`the interpreter of ${path}, ${interpreter}, is in the workspace`);
  const inner = { ...noFiles(), firstLines: [...found.firstLines, path] };
  readInner(`${interpreter} ${quote(path)}`, workspace, inner);
  for (const { name } of inner.calls) throw unknownProgram(name);
}

/** `test -x F && F`: whatever else names the same file means the copy too. */
export function editOtherWords(reading: Reading): void {
  const { words, found } = reading;
  const isEdited = ({ start }: ShellWord) => found.edits.some((edit) => edit.start === start);
  for (const { word, directories } of words) {
    if (word.value === null || word.value === "" || isEdited(word)) continue;
    const path = locate(word.value, { ...reading, directories });
    if (path !== null && found.references.some((reference) => reference.path === path))
      found.edits.push({ start: word.start, end: word.end, by: { path } });
  }
}
