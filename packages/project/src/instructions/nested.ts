// Instructions that apply once something is touched: AGENTS.md of the folders on the way to it, rules for such files.
import { statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { contains, directoriesBelow, directoriesBetween, directoryOf } from "../files/places.ts";
import type { FileProblem } from "../files/problem.ts";
import { type InstructionPlaces, instructionMessage, readProject, type SourcedText } from "./agents-md.ts";
import { compileGlob } from "./globs.ts";
import { type Rule, readRules, ruleBody, ruleMessage } from "./rules.ts";

export interface Touched {
  path: string;
  kind: "file" | "directory";
}

/** The folders whose AGENTS.md the model has not been given, outermost first. Those above `cwd` it has from the start. */
export function nestedInstructions(places: NestedPlaces, given: string[]): string[] {
  const known = new Set(given.map((source) => dirname(source)));
  return foldersOf(places).filter((folder) => !known.has(folder));
}

export interface NestedPlaces {
  root: string;
  cwd: string;
  touched: Touched[];
}

function foldersOf({ root, cwd, touched }: NestedPlaces): string[] {
  const fromStart = new Set(directoriesBetween(root, cwd));
  const folders = touched.flatMap(({ path, kind }) => directoriesBelow(root, directoryOf(path, kind)));
  return [...new Set(folders)].filter((folder) => !fromStart.has(folder)).sort(byDepth);
}

const byDepth = (one: string, other: string): number =>
  one.split(sep).length - other.split(sep).length || (one < other ? -1 : 1);

/** What is to be told about these paths, given what was told before. */
export function readNested(
  places: InstructionPlaces & { rules: Rule[] },
  paths: string[],
  given: string[],
): { texts: SourcedText[]; problems: FileProblem[] } {
  const touched = paths.flatMap((path) => look(resolve(places.cwd, path), places.root));
  const { root, cwd } = places;
  const documents = readProject(places, nestedInstructions({ root, cwd, touched }, given));
  const folders = foldersOf({ root, cwd, touched });
  const nested = readRules(folders, root);
  const rules = [...places.rules, ...nested.rules].filter((rule) => !given.includes(rule.path));
  const fitting = rules.filter((rule) => fits(rule, touched, folders));
  return {
    texts: [
      ...documents.texts.map(({ source, text }) => ({ source, text: instructionMessage(dirname(source), text) })),
      ...fitting.map((rule) => ({ source: rule.path, text: ruleMessage([ruleBody(rule)]) })),
    ],
    problems: [...documents.problems, ...nested.problems],
  };
}

/** A path that is gone still says where something was done. */
function look(path: string, root: string): Touched[] {
  if (!contains(root, path)) return [];
  const kind = kindOf(path);
  if (kind !== null) return [{ path, kind }];
  const folder = dirname(path);
  return kindOf(folder) === "directory" ? [{ path: folder, kind: "directory" }] : [];
}

/** Null where nothing is there, or nothing that could be looked at. */
function kindOf(path: string): Touched["kind"] | null {
  try {
    return statSync(path).isDirectory() ? "directory" : "file";
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
