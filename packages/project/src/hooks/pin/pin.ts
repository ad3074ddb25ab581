// Pins a command: every file of the workspace that it runs, with the hash of its content, or why that is not possible.
import { basename, dirname } from "node:path";
import { contains } from "../../files/directories.ts";
import { type CommandFiles, type Edit, noFiles, type Reference, readCommandFiles } from "./command.ts";
import { firstBytes, isFile, readRegularFile, realPath, type Workspace } from "./files.ts";
import { includesOf, languageOf } from "./includes.ts";
import {
  checkCalls,
  checkOtherScript,
  type ReadScript,
  readShellScript,
  refuseControlCharacters,
  type ScriptText,
} from "./scripts.ts";
import { Unpinnable } from "./shell-reader.ts";
import { hashOfContent, hashOfSingleFile, hashOfTree, readTree, type TreeEntry } from "./tree.ts";

/** A file or a directory of the workspace, with the hash of its content. */
export interface PinnedPath {
  path: string;
  hash: string;
}

export interface ScriptIncludes {
  /** Of the content in which they were found. */
  hash: string;
  /** The files that it names, which are replaced by their copies. */
  edits: Edit[];
}

export interface Pin {
  /** The first file that the command names. */
  script: PinnedPath | undefined;
  files: PinnedPath[];
  edits: Edit[];
  /** By the path of the script that names them. */
  includes: Map<string, ScriptIncludes>;
  /** Why the command cannot be pinned. */
  unpinned: string | undefined;
}

const maxFiles = 256;

export function pinCommand(command: string, workspace: Workspace): Pin {
  const found = noFiles();
  const pin: Pin = { script: undefined, files: [], edits: found.edits, includes: new Map(), unpinned: undefined };
  try {
    refuseControlCharacters(command);
    readCommandFiles(command, workspace, found);
    pin.files = pinFiles(found, workspace, pin.includes);
  } catch (error) {
    if (!(error instanceof Unpinnable)) throw error;
    pin.unpinned = error.message;
  }
  const [first] = found.references;
  const hash = first && currentHash(first.path);
  if (first && hash != null) pin.script = { path: first.path, hash };
  return pin;
}

/** What a script that is pinned alone loads is pinned alone too, as far as it can be: it may be the project's own code. */
interface OpenScript extends Reference {
  isAlone: boolean;
}

/** The directories of the scripts, and every other file that they load by name. */
function pinFiles(found: CommandFiles, workspace: Workspace, includes: Pin["includes"]): PinnedPath[] {
  const open: OpenScript[] = found.references.map((reference) => ({ ...reference, isAlone: false }));
  const openAlone: OpenScript[] = [];
  const pinned = new Map<string, PinnedPath>();
  const seen = new Set<string>();
  const shellScripts: ReadScript[] = [];
  // What is loaded as one of the hook's own files counts as such, even if another program loads it too: these come first.
  const next = () => open.shift() ?? openAlone.shift();
  for (let script = next(); script; script = next()) {
    if (seen.has(script.path)) continue;
    seen.add(script.path);
    if (seen.size > maxFiles) throw new Unpinnable(`it loads more than ${maxFiles} files`);
    addPin(script, workspace, pinned);
    const content = readRegularFile(script.path) ?? Buffer.alloc(0);
    const text = content.toString("utf8");
    const hash = hashOfContent(content);
    const { isAlone } = script;
    if (script.language === "shell") {
      const read = readShellScript({ ...script, text }, workspace);
      includes.set(script.path, { hash, edits: read.edits });
      shellScripts.push({ script: { ...script, text }, found: read });
      (isAlone ? openAlone : open).push(...read.references.map((reference) => ({ ...reference, isAlone })));
      continue;
    }
    const loaded = loadedFiles({ ...script, text }, workspace);
    includes.set(script.path, { hash, edits: [] });
    (isAlone ? openAlone : open).push(...loaded.files.map((reference) => ({ ...reference, isAlone })));
    openAlone.push(...loaded.alone.map((reference) => ({ ...reference, isAlone: true })));
  }
  checkCalls(found, shellScripts);
  return [...pinned.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function loadedFiles(script: ScriptText & OpenScript, workspace: Workspace) {
  checkOtherScript(script);
  const { files, alone, packageName } = includesOf(script, workspace);
  if (packageName !== null && !script.isAlone)
    throw new Unpinnable(`${script.path} loads the package ${packageName} from the workspace`);
  const { directories } = workspace;
  const read = (path: string): Reference => ({
    path,
    language: languageOf(path, firstBytes(path, 256)),
    directories,
    isSourced: false,
  });
  return { files: files.map(read), alone: alone.map(read) };
}

function addPin({ path, isAlone }: OpenScript, workspace: Workspace, pinned: Map<string, PinnedPath>): void {
  if ([...pinned.keys()].some((other) => contains(other, path))) return;
  const directory = dirname(path);
  const entries = !isAlone && isOfHooks(path, workspace) ? readTree(directory) : null;
  if (entries) return void pinned.set(directory, { path: directory, hash: hashOfTree(entries) });
  const hash = currentHash(path);
  if (hash === null) throw new Unpinnable(`${path} cannot be read`);
  pinned.set(path, { path, hash });
}

/** Not the directory of a whole project; and a link is pinned by what it points at, alone. */
function isOfHooks(path: string, { directories, roots }: Workspace): boolean {
  const directory = dirname(path);
  if (realPath(path) !== path) return false;
  return ![...directories, ...roots].some(
    (other) => contains(directory, other) || contains(directory, realPath(other)),
  );
}

/** The hash of a file or directory as it is now; null if it cannot be read. */
export function currentHash(path: string): string | null {
  if (isFile(path)) {
    const content = readRegularFile(path);
    return content && hashOfContent(content);
  }
  const entries = readTree(path);
  return entries && hashOfTree(entries);
}

/** Content that was read once: what is verified is what is copied. Null if it is not what was pinned. */
export function readPinned({ path, hash }: PinnedPath): { directory: string; entries: TreeEntry[] } | null {
  if (!isFile(path)) {
    const entries = readTree(path);
    return entries && hashOfTree(entries) === hash ? { directory: path, entries } : null;
  }
  const content = readRegularFile(path);
  if (content === null || hashOfContent(content) !== hash) return null;
  return { directory: dirname(path), entries: [{ kind: "file", name: basename(path), content }] };
}

/** Whether the pinned files are the script and nothing else. */
export const isOnlyScript = (files: PinnedPath[], script: PinnedPath | undefined): boolean =>
  files.every(
    ({ path, hash }) =>
      script !== undefined &&
      ((path === script.path && hash === script.hash) ||
        (path === dirname(script.path) && hash === hashOfSingleFile(basename(script.path), script.hash))),
  );
