// Private copies of the files that hooks run, so that what was verified is what runs, whatever happens to the workspace.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { readUnblocked } from "@agentcli/project";
import {
  applyEdits,
  hashOfContent,
  hookWorkspace,
  isCommandHook,
  type Pin,
  type PinnedPath,
  pinHook,
  readPinned,
  type ScriptIncludes,
  type ScriptSearch,
  type Workspace,
  whyOutdated,
} from "@agentcli/project/hooks";
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import { onlyUserCanChange } from "@agentcli/workspace";
import { HostError } from "./host-error.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export interface CopyOptions {
  search: ScriptSearch;
  /** Directories for the copies, the preferred one first; one inside the workspace is not used. */
  locations: string[];
}

export interface HookCopies {
  /** The command as it runs: its files are those of the copy. Null if they are not what was trusted. */
  commandOf(definition: HookOf<"command">): string | null;
  /** Sentences for the user: hooks that run files of the workspace itself. */
  warnings: string[];
  close(): void;
}

type CopiedCommand = { kind: "copied"; command: string } | { kind: "unpinned"; reason: string } | { kind: "modified" };

export function copyHooks(definitions: HookDefinition[], options: CopyOptions): HookCopies {
  const commands = new Map<string, CopiedCommand>();
  let directory: string | undefined;
  for (const definition of definitions.filter(isCommandHook)) {
    const workspace = hookWorkspace(definition, options.search);
    const makeDirectory = () => {
      directory ??= openDirectory(options, workspace);
      return mkdtempSync(join(directory, "hook-"));
    };
    commands.set(definition.key, copyHook(definition, { workspace, search: options.search, makeDirectory }));
  }
  return {
    commandOf(definition) {
      const found = commands.get(definition.key);
      if (found?.kind === "unpinned") return definition.command;
      if (found?.kind !== "copied" || (directory !== undefined && !keepAlive(directory))) return null;
      return found.command;
    },
    warnings: [...commands].flatMap(([key, found]) =>
      found.kind === "unpinned" ? [unpinnedWarning(key, found.reason)] : [],
    ),
    close() {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

const unpinnedWarning = (key: string, reason: string): string =>
  `The hook ${key} runs outside the sandbox and is not pinned: ${reason}. What it runs in the workspace can be changed by the agent.`;

interface CopyContext {
  workspace: Workspace;
  search: ScriptSearch;
  makeDirectory(): string;
}

function copyHook(definition: HookOf<"command">, { workspace, search, makeDirectory }: CopyContext): CopiedCommand {
  if (definition.unpinned !== undefined) return { kind: "unpinned", reason: definition.unpinned };
  const pin = pinHook(definition, search);
  if (!isAsRecorded(pin, definition, search)) return { kind: "modified" };
  if (pin.files.length === 0)
    return { kind: "copied", command: applyEdits(definition.command, pin.edits, (path) => path) };
  const layout = openLayout(makeDirectory(), workspace);
  const isWhole = pin.files.every((file) => copyPinned(file, layout, pin.includes));
  if (!isWhole) return { kind: "modified" };
  writePackageTypes(pin.files, layout, workspace);
  return { kind: "copied", command: applyEdits(definition.command, pin.edits, layout.copyOf) };
}

/** The files that the command runs now are those that were trusted, or recorded when the thread began. */
function isAsRecorded({ files, unpinned }: Pin, definition: HookDefinition, search: ScriptSearch): boolean {
  if (unpinned !== undefined) return false;
  if (definition.files === undefined) return whyOutdated(definition, search) === null;
  return JSON.stringify(files.map(identity)) === JSON.stringify(definition.files.map(identity));
}

const identity = ({ path, hash }: PinnedPath): string[] => [path, hash];

/** Where the copy of a path is: the same relative path, so that scripts find each other. */
interface Layout {
  copyOf(path: string): string;
}

function openLayout(directory: string, { roots, rootOf }: Workspace): Layout {
  writeFileSync(join(directory, "package.json"), "{}\n");
  return {
    copyOf(path) {
      const root = rootOf(path);
      if (root === undefined) throw new Error(`${path} is pinned but not in the workspace`);
      return join(directory, String(roots.indexOf(root)), relative(root, path));
    },
  };
}

/** False if the content is not what was pinned. Everything is read once. */
function copyPinned(file: PinnedPath, { copyOf }: Layout, includes: Pin["includes"]): boolean {
  const read = readPinned(file);
  if (read === null) return false;
  for (const entry of read.entries) {
    const original = join(read.directory, entry.name);
    const copy = copyOf(original);
    makePrivateDirectory(dirname(copy));
    if (entry.kind === "file") {
      const content = withCopies(entry.content, includes.get(original), copyOf);
      if (content === null) return false;
      writeFileSync(copy, content, { mode: 0o500 });
    } else symlinkSync(entry.target, copy);
  }
  return true;
}

/** A script that names another one relative to the working directory names its copy. Null if it was read with other content. */
function withCopies(
  content: Buffer,
  read: ScriptIncludes | undefined,
  copyOf: Layout["copyOf"],
): Buffer | string | null {
  if (read && hashOfContent(content) !== read.hash) return null;
  if (!read || read.edits.length === 0) return content;
  return applyEdits(content.toString("utf8"), read.edits, copyOf);
}

/** Node reads from the nearest package.json whether a file is a module. */
function writePackageTypes(files: PinnedPath[], { copyOf }: Layout, { rootOf }: Workspace): void {
  for (const { path } of files) {
    for (let at = dirname(path); rootOf(at) !== undefined; at = dirname(at)) {
      const type = packageType(join(at, "package.json"));
      const copy = copyOf(join(at, "package.json"));
      if (type === null || existsSync(copy)) continue;
      makePrivateDirectory(dirname(copy));
      writeFileSync(copy, `${JSON.stringify(type)}\n`);
      break;
    }
  }
}

/** Null if there is none. */
function packageType(path: string): { type?: string } | null {
  try {
    const { type } = JSON.parse(readUnblocked(path));
    return type === "module" || type === "commonjs" ? { type } : {};
  } catch {
    return null;
  }
}

/** A new directory that only this user can enter, outside everything an agent may write to. */
function openDirectory({ locations }: CopyOptions, { isInside }: Workspace): string {
  const location = locations.find((path) => !isInside(path));
  if (location === undefined)
    throw new HostError(
      "usage",
      `Hooks run from private copies, and ${locations.join(" and ")} are inside the workspace. Set AGENT_HOME to a directory outside of it.`,
    );
  const parent = join(location, "hook-copies");
  makePrivateDirectory(parent);
  if (!onlyUserCanChange(realpathSync(parent)))
    throw new HostError(
      "usage",
      `Hooks run from private copies, and other users can change what is in ${parent}. Remove it or make it yours alone (chmod go-w, also for the directories above), or set AGENT_HOME to another directory.`,
    );
  removeLeftovers(parent);
  return mkdtempSync(join(parent, "run-"));
}

/** Copies of a run that was killed; those of a living run are used again and again. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1000;

function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > maxAgeMs) rmSync(path, { recursive: true, force: true });
  }
}

/** False if the copies are gone. */
function keepAlive(directory: string): boolean {
  try {
    const now = new Date();
    utimesSync(directory, now, now);
    return true;
  } catch {
    return false;
  }
}
