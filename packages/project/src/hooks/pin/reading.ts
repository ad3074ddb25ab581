// What the parts of the reader of commands share: the command, what was found in it, and where its files are.
import { isAbsolute, resolve } from "node:path";
import type { Call } from "./arguments.ts";
import type { Edit } from "./edits.ts";
import { firstBytes, isFile, type Workspace } from "./files.ts";
import type { Language } from "./includes.ts";
import { type ShellWord, Unpinnable } from "./shell-reader.ts";

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

export interface Reading {
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
  /** Reads a command inside of this one. */
  readInner(source: string, workspace: Workspace, found: CommandFiles): void;
}

export const textOf = ({ start, end }: ShellWord, { source }: Reading): string => source.slice(start, end);

/** The text of a word that has to be known. */
export function known(word: ShellWord | undefined, what: string, reading: Reading): string {
  if (word === undefined) throw new Unpinnable(`${what} is missing`);
  if (word.value === null) throw new Unpinnable(`${what} \`${textOf(word, reading)}\` is known only when it runs`);
  return word.value;
}

export const callOf = (name: string, words: ShellWord[], reading: Reading): Call => ({
  name,
  words,
  textOf: (word: ShellWord) => textOf(word, reading),
  assigned: reading.found.assigned,
});

export const unknownProgram = (name: string): Unpinnable =>
  new Unpinnable(`what \`${name}\` runs or loads from the workspace is not known`);

export const candidates = (name: string, { directories }: Reading): string[] =>
  isAbsolute(name) ? [resolve(name)] : directories.map((directory) => resolve(directory, name));

export function locate(name: string, reading: Reading): string | null {
  const found = candidates(name, reading).find(isFile);
  return found === undefined ? null : reading.workspace.pathOf(found);
}

export function isOfWorkspace(name: string, reading: Reading): boolean {
  const found = locate(name, reading);
  const paths = found === null ? candidates(name, reading) : [found];
  return paths.some((path) => reading.workspace.isInside(path));
}

export const scriptName = /\.(?:[mc]?[jt]s|(?:ba|z|k)?sh|p[yl]|rb)$/;
export const isProgram = (name: string | null, reading: Reading): boolean =>
  firstBytes(locateOwn(name ?? "", reading) ?? "", 2) === "#!";
export const locateOwn = (name: string, reading: Reading): string | null =>
  name !== "" && isOfWorkspace(name, reading) ? locate(name, reading) : null;
