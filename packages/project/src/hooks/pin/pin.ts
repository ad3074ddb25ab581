// Pins a command: every file of the workspace that it runs, with the hash of its content, or why that is not possible.
import { basename, dirname } from "node:path";
import { contains } from "../../files/directories.ts";
import { readCommandFiles } from "./command.ts";
import type { Edit } from "./edits.ts";
import { isFile, readRegularFile, realPath, type Workspace } from "./files.ts";
import { checkUncopied } from "./other-scripts.ts";
import { type CommandFiles, noFiles, type Reference } from "./reading.ts";
import {
  checkCalls,
  type ReadScript,
  readCodeScript,
  readShellScript,
  refuseControlCharacters,
  refuseSize,
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
    refuseSize(command);
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

/** A script that code starts runs in place. So does what it loads, without the directory around it: that may be the project's own code. */
interface OpenScript extends Reference {
  isUncopied: boolean;
}

/** The directories of the scripts, and every other file that they load by name. */
function pinFiles(found: CommandFiles, workspace: Workspace, includes: Pin["includes"]): PinnedPath[] {
  const open: OpenScript[] = found.references.map((reference) => ({ ...reference, isUncopied: false }));
  const openUncopied: OpenScript[] = [];
  const pinned = new Map<string, PinnedPath>();
  const seen = new Set<string>();
  const shellScripts: ReadScript[] = [];
  // What is loaded as one of the hook's own files is a copy, even if it runs in place too: these come first.
  const next = () => open.shift() ?? openUncopied.shift();
  for (let script = next(); script; script = next()) {
    const { isUncopied } = script;
    if (isUncopied) checkUncopied(script);
    if (seen.has(`${script.path} ${isUncopied}`)) continue;
    seen.add(`${script.path} ${isUncopied}`);
    if (seen.size > maxFiles) throw new Unpinnable(`it loads more than ${maxFiles} files`);
    addPin(script, workspace, pinned);
    const content = readRegularFile(script.path) ?? Buffer.alloc(0);
    const read = { ...script, text: content.toString("utf8") };
    const hash = hashOfContent(content);
    if (script.language === "shell") {
      const files = readShellScript(read, workspace);
      includes.set(script.path, { hash, edits: files.edits });
      shellScripts.push({ script: read, found: files });
      (isUncopied ? openUncopied : open).push(...files.references.map((reference) => ({ ...reference, isUncopied })));
      continue;
    }
    const files = readCodeScript(read, workspace);
    if (!includes.has(script.path)) includes.set(script.path, { hash, edits: [] });
    (isUncopied ? openUncopied : open).push(...files.loaded.map((reference) => ({ ...reference, isUncopied })));
    openUncopied.push(...files.started.map((reference) => ({ ...reference, isUncopied: true })));
  }
  checkCalls(found, shellScripts);
  return [...pinned.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function addPin({ path, isUncopied }: OpenScript, workspace: Workspace, pinned: Map<string, PinnedPath>): void {
  if ([...pinned.keys()].some((other) => contains(other, path))) return;
  const directory = dirname(path);
  const entries = !isUncopied && isOfHooks(path, workspace) ? readTree(directory) : null;
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
