// Directories of the program itself, such as the agent home, where commands could write beside or above them: what the next run
// reads there must not come from a command.
import { type Dirent, lstatSync, mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { contains, resolveExisting } from "../paths.ts";

/**
 * Creates those in a writable directory, so that they can be hidden, and refuses a link on the way to one that a command could
 * replace. Returns the files in writable directories that they link to, as the settings of users who keep them in a repository.
 */
export function guardOwnDirectories(directories: string[], roots: string[]): string[] {
  const isWritable = (path: string) => roots.some((root) => contains(root, path));
  return directories.flatMap((directory) => {
    const real = followLinks(directory, isWritable);
    if (isWritable(real)) mkdirSync(real, { recursive: true, mode: 0o700 });
    return linkedFrom(real).filter(isWritable);
  });
}

const maxLinks = 40;

/** The path without links; what does not exist yet is named as it is. */
function followLinks(path: string, isWritable: (path: string) => boolean, linksLeft = maxLinks): string {
  const names = path.split("/").filter(Boolean);
  let directory = "/";
  for (const [index, name] of names.entries()) {
    const next = join(directory, name);
    const target = linksLeft > 0 ? readLink(next) : undefined;
    if (target === undefined) {
      directory = next;
      continue;
    }
    if (isWritable(next)) throw refuseLink(path, next);
    return followLinks(resolve(directory, target, ...names.slice(index + 1)), isWritable, linksLeft - 1);
  }
  return directory;
}

const refuseLink = (path: string, link: string) =>
  new SandboxUnavailable(
    `The way to ${path} leads through the link ${link}, which commands could replace.`,
    "Name the directory itself, move it out of the directories that commands can write, or run read-only.",
  );

/** Of links in the directory, and in the directories of settings in it. Texts for the model may be worked on. */
function linkedFrom(directory: string): string[] {
  const settings = linksIn(directory).filter((link) => !textNames.includes(basename(link)));
  return [...settings, ...settingsDirectories.flatMap((name) => linksIn(join(directory, name)))].flatMap(
    resolveExisting,
  );
}

const textNames = ["AGENTS.md", "skills", "commands", "prompts"];
const settingsDirectories = ["rules", "agents", "hooks"];

const linksIn = (directory: string): string[] =>
  entriesOf(directory)
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => join(directory, name));

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function readLink(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
