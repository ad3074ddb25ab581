// Instructions for touched files: AGENTS.md of the folders above them, and matching rules.
import { statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { contains, directoriesBelow, directoriesBetween, directoryOf } from "../files/directories.ts";
import type { FileProblem } from "../files/problem.ts";
import { type InstructionSources, instructionMessage, readProject, type SourcedText } from "./agents-md.ts";
import { compileGlob } from "./globs.ts";
import { type Rule, readRules, ruleBody, ruleMessage } from "./rules.ts";

export interface Touched {
  path: string;
  kind: "file" | "directory";
}

/** Folders whose AGENTS.md was not sent to the model yet, outermost first. Those above `cwd` are sent at the start. */
export function nestedInstructions(sources: NestedSources, sent: string[]): string[] {
  const sentFolders = new Set(sent.map((source) => dirname(source)));
  return foldersOf(sources).filter((folder) => !sentFolders.has(folder));
}

export interface NestedSources {
  root: string;
  cwd: string;
  touched: Touched[];
}

function foldersOf({ root, cwd, touched }: NestedSources): string[] {
  const fromStart = new Set(directoriesBetween(root, cwd));
  const folders = touched.flatMap(({ path, kind }) => directoriesBelow(root, directoryOf(path, kind)));
  return [...new Set(folders)].filter((folder) => !fromStart.has(folder)).sort(byDepth);
}

const byDepth = (one: string, other: string): number =>
  one.split(sep).length - other.split(sep).length || (one < other ? -1 : 1);

/** The instructions for these paths that were not sent before. */
export function readNested(
  sources: InstructionSources & { rules: Rule[] },
  paths: string[],
  sent: string[],
): { texts: SourcedText[]; problems: FileProblem[] } {
  const touched = paths.flatMap((path) => look(resolve(sources.cwd, path), sources.root));
  const { root, cwd } = sources;
  const documents = readProject(sources, nestedInstructions({ root, cwd, touched }, sent));
  const folders = foldersOf({ root, cwd, touched });
  const nested = readRules(folders, root);
  const rules = [...sources.rules, ...nested.rules].filter((rule) => !sent.includes(rule.path));
  const fitting = rules.filter((rule) => fits(rule, touched, folders));
  return {
    texts: [
      ...documents.texts.map(({ source, text }) => ({ source, text: instructionMessage(dirname(source), text) })),
      ...fitting.map((rule) => ({ source: rule.path, text: ruleMessage([ruleBody(rule)]) })),
    ],
    problems: [...documents.problems, ...nested.problems],
  };
}

/** A deleted path still shows where something was done. */
function look(path: string, root: string): Touched[] {
  if (!contains(root, path)) return [];
  const kind = kindOf(path);
  if (kind !== null) return [{ path, kind }];
  const folder = dirname(path);
  return kindOf(folder) === "directory" ? [{ path: folder, kind: "directory" }] : [];
}

/** Null if it does not exist or cannot be read. */
function kindOf(path: string): Touched["kind"] | null {
  try {
    // Most words of a command are no paths: an error for each of them would take longer than all the rest.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    return stats.isDirectory() ? "directory" : "file";
  } catch {
    return null;
  }
}

function fits({ applies, directory }: Rule, touched: Touched[], folders: string[]): boolean {
  if (applies.when === "always") return folders.includes(directory);
  if (applies.when !== "files") return false;
  const globs = applies.globs.map(compileGlob);
  return touched.some(
    ({ path, kind }) =>
      kind === "file" && contains(directory, path) && globs.some((matches) => matches(relative(directory, path))),
  );
}
