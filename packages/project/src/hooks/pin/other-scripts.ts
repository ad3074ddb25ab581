// What a script in another language than that of shells loads and starts: files beside it, and commands that run in place.
import { lstatSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, resolve } from "node:path";
import { type CodeUses, inWordsOfCode } from "./code-calls.ts";
import { refuse } from "./code-tokens.ts";
import { readCommandFiles } from "./command.ts";
import { firstBytes, isFile, realPath, type Workspace } from "./files.ts";
import { languageOf, resolveModule } from "./includes.ts";
import { readJavascript } from "./javascript/read.ts";
import { checkLocation } from "./outside.ts";
import { readPerl } from "./perl.ts";
import { isHarmlessModule, readPython } from "./python.ts";
import { noFiles, type Reference, unknownProgram } from "./reading.ts";
import { readRuby } from "./ruby.ts";
import { Unpinnable } from "./shell-reader.ts";

export interface ScriptText extends Reference {
  text: string;
  /** Started by code, which names no copy: what it loads is loaded from the workspace. */
  isUncopied: boolean;
}

export interface LoadedFiles {
  loaded: Reference[];
  started: Reference[];
}

export function readOtherScript(script: ScriptText, workspace: Workspace): LoadedFiles {
  const { language, text, directories } = script;
  switch (language) {
    case "javascript": {
      const uses = readJavascript(text, workspace.variables);
      return { loaded: modulesOfNode(uses, script, workspace), started: startedBy(uses, script, workspace) };
    }
    case "python": {
      const uses = readPython(text, workspace.variables);
      return { loaded: modulesOfPython(uses, script, workspace), started: startedBy(uses, script, workspace) };
    }
    case "perl":
    case "ruby": {
      const names = language === "perl" ? readPerl(text) : readRuby(text);
      const paths = names.map((name) => existing(resolve(dirname(script.path), name), { name, at: 0 }));
      return { loaded: referencesTo(paths, directories, workspace), started: [] };
    }
    case "data":
    case "shell":
      return { loaded: [], started: [] };
    case "other":
      throw new Unpinnable("it is in a language that is not read");
  }
}

interface Named {
  name: string;
  at: number;
}

function existing(path: string, { name, at }: Named): string {
  if (!isFile(path)) throw refuse(at, `there is no file ${name}`);
  return path;
}

function referencesTo(paths: string[], directories: string[], workspace: Workspace): Reference[] {
  for (const path of paths.filter((each) => !workspace.isInside(each))) {
    checkLocation(path);
    checkLocation(realPath(path));
  }
  return paths.filter(workspace.isInside).map((path) => {
    const language = languageOf(path, firstBytes(path, 256));
    return { path: workspace.pathOf(path), language, directories, isSourced: false };
  });
}

function modulesOfNode({ modules }: CodeUses, script: ScriptText, workspace: Workspace): Reference[] {
  const paths = eachName(modules).flatMap((module) => {
    if (isBuiltin(module.name)) return [];
    if (!/^(?:\.{1,2})?(?:\/|$)/.test(module.name))
      throw refuse(module.at, `it loads the package ${module.name} from the workspace`);
    const named = resolve(dirname(script.path), module.name);
    const path = existing(resolveModule(named)[0] ?? named, module);
    // Another file or a package.json could be found first, unless all of its directory is a copy.
    const isOther = isFile(resolve(named, "package.json")) || (script.isUncopied && path !== named);
    if (isOther) throw refuse(module.at, `which file ${module.name} means is known only when it runs`);
    return [path];
  });
  return referencesTo(paths, script.directories, workspace);
}

/** The first of each name. */
const eachName = (modules: Named[]): Named[] =>
  [...new Map([...modules].reverse().map((module) => [module.name, module])).values()].reverse();

/** Python finds modules beside the script before its own ones. */
function modulesOfPython({ modules }: CodeUses, script: ScriptText, workspace: Workspace): Reference[] {
  const [first] = modules;
  if (first && script.isUncopied)
    throw refuse(first.at, `${script.path} is started in place, where a file for its import could be added`);
  const paths = eachName(modules).flatMap((module) => {
    const isOptional = module.name.endsWith("?");
    const files = pythonFiles(module.name.replace(/\?$/, ""), dirname(script.path));
    if (files === null && !isOptional && !isHarmlessModule(module.name))
      throw refuse(module.at, `what the package ${module.name} runs or loads is not known`);
    return files ?? [];
  });
  return referencesTo(paths, script.directories, workspace);
}

/** Of a module and of the packages around it; null if there is no such module beside the script. */
function pythonFiles(name: string, beside: string): string[] | null {
  const dots = /^\.*/.exec(name)?.[0].length ?? 0;
  const parts = name.slice(dots).split(".").filter(Boolean);
  const base = resolve(beside, ...Array.from({ length: Math.max(0, dots - 1) }, () => ".."));
  const paths = parts.map((_, index) => resolve(base, ...parts.slice(0, index + 1)));
  const last = paths.at(-1) ?? base;
  const files = paths.flatMap((path) => [`${path}.py`, resolve(path, "__init__.py")]).filter(isFile);
  return files.length > 0 || isDirectory(last) ? files : null;
}

/** False too where the name is longer than a system allows. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Commands are read as those of a hook are; the files that they name run in place. */
function startedBy({ commands }: CodeUses, script: ScriptText, workspace: Workspace): Reference[] {
  const directories = script.directories.slice(0, 1);
  return commands.flatMap(({ text, at }) => {
    const found = noFiles();
    try {
      readCommandFiles(text, { ...workspace, directories }, found);
      for (const { name } of found.calls) throw unknownProgram(name);
    } catch (error) {
      throw error instanceof Unpinnable ? refuse(at, inWordsOfCode(error.message)) : error;
    }
    return found.references;
  });
}

/** A file that runs in place has one name alone, so that only what is protected can change it. */
export function checkUncopied({ path }: Reference): void {
  if (realPath(path) !== path) throw new Unpinnable(`${path} is started in place and is behind a link`);
  if (lstatSync(path).nlink > 1) throw new Unpinnable(`${path} is started in place and has a second name (hard link)`);
}
