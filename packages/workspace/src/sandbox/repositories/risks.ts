// Why git could run a program in a repository, or write elsewhere: settings that are not known to be harmless, hooks,
// configuration elsewhere, links.
import { lstatSync, readdirSync } from "node:fs";
import { findGitDirectory, readRegularFile } from "../../git/index.ts";
import { maxModules, modulesIn } from "./modules.ts";
import { below, type DirectoryPath, type Repository } from "./search.ts";
import { trapsIn } from "./traps.ts";

/** Empty if it is a plain one. At most a few. What cannot be read is a risk. */
export function risksOf({ directory, entry }: Repository): string[] {
  try {
    if (entry === ".agentcli") return riskySettingFiles(below(directory, entry));
    return entry === "HEAD" ? risksIn(directory) : findRisks(directory);
  } catch (error) {
    return [(error as Error).message];
  }
}

function findRisks(directory: DirectoryPath): string[] {
  const git = below(directory, ".git");
  if (lstatSync(git, { throwIfNoEntry: false })?.isDirectory()) return risksIn(git);
  // A file or a link names another directory, which may change later.
  const target = typeof directory === "string" ? findGitDirectory(directory) : undefined;
  return [".git leads elsewhere", ...(target === undefined ? [] : risksIn(target))].slice(0, maxNamed);
}

const risksIn = (git: DirectoryPath): string[] =>
  [...new Set([...ownRisksIn(git), ...risksInModules(git)])].slice(0, maxNamed);

function ownRisksIn(git: DirectoryPath): string[] {
  const files = ["config", "config.worktree"].map((name) => below(git, name));
  const settings = files.flatMap((path) => riskySettings(readConfig(path)));
  const others = ["commondir", "gitdir", ...unfinishedWork].filter((name) => exists(below(git, name)));
  return [...settings, ...hooksIn(below(git, "hooks")), ...others, ...trapsIn(git)];
}

/** Of submodules: git uses their repositories once they are checked out, and clones make them with a setting of their working tree. */
function risksInModules(git: DirectoryPath): string[] {
  const modules = modulesIn(git);
  if (modules.length > maxModules) return ["modules"];
  const found = modules.flatMap((module) => ownRisksIn(module).filter((risk) => risk !== "core.worktree"));
  return found.map((risk) => `modules: ${risk}`);
}

/** Of a rebase or a sequence of picks: git goes on with the commands in it. */
export const unfinishedWork = ["rebase-merge", "rebase-apply", "sequencer"];

const maxNamed = 5;

/** What agentcli uses of a trusted project without asking again: hooks have a trust of their own, the rest is text for a model. */
function riskySettingFiles(folder: DirectoryPath): string[] {
  if (!lstatSync(folder).isDirectory()) return ["it leads elsewhere"];
  return settingsOfProjects.filter((name) => exists(below(folder, name)));
}

export const settingsOfProjects = ["config.toml", "rules"];

/** By section, without its name in quotes: settings that run nothing. Every other one counts as a risk. */
const harmless = new Map<string, string[]>(
  Object.entries({
    core: [
      ...["repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode"],
      ...["symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "abbrev", "sparsecheckout", "sparsecheckoutcone"],
    ],
    remote: ["url", "fetch", "pushurl", "tagopt", "promisor", "partialclonefilter", "mirror"],
    branch: ["remote", "merge", "rebase", "description"],
    user: ["name", "email"],
    author: ["name", "email"],
    committer: ["name", "email"],
    init: ["defaultbranch"],
    extensions: ["objectformat", "partialclone", "refstorage"],
    submodule: ["url", "active", "branch"],
    pull: ["rebase", "ff"],
    push: ["default", "autosetupremote"],
    commit: ["gpgsign", "cleanup", "status", "verbose"],
    gc: ["auto"],
    advice: ["detachedhead"],
  }),
);

/** Reads more as settings than git does, never less: what it misreads becomes a risk. */
export function riskySettings(config: string): string[] {
  const risks: string[] = [];
  let section = "";
  for (const line of config.split(/\n|(?=\r)/)) {
    const [header, name] = /^\s*\[\s*([\w.-]+)[^\]]*(?:\]|$)/.exec(line) ?? [];
    // To git a return does not end a comment: what follows may be in the section before.
    if (name !== undefined && line.startsWith("\r")) risks.push(`${section}.?`);
    if (name !== undefined) section = name.toLowerCase();
    const setting = line.slice(header?.length ?? 0).trim();
    if (setting === "" || /^[#;]/.test(setting)) continue;
    const key = /^[a-z][\w-]*/i.exec(setting)?.[0].toLowerCase();
    const isHarmless = key !== undefined && harmless.get(section)?.includes(key) && !/[\\\]]/.test(setting);
    if (!isHarmless) risks.push(`${section}.${key ?? "?"}`);
  }
  return risks;
}

/** Not a harmless setting if it cannot be read. */
function readConfig(path: DirectoryPath): string {
  if (!exists(path)) return "";
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile();
  return (isFile && readRegularFile(path)?.toString("latin1")) || "unreadable";
}

function hooksIn(directory: DirectoryPath): string[] {
  const entry = lstatSync(directory, { throwIfNoEntry: false });
  if (entry === undefined) return [];
  if (!entry.isDirectory()) return ["hooks"];
  const names = readdirSync(directory).filter((name) => !name.endsWith(".sample"));
  return names.map((name) => `hooks/${name}`);
}

const exists = (path: DirectoryPath) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
