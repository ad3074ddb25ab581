// Files of a working tree that git reads or runs because the configuration of its repository names them: included settings,
// the directory of hooks, and scripts. Who can change them decides what the user's next git command runs.
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { findCommonDirectory, findRepository, readRegularFile } from "../../git/index.ts";
import { contains, resolveExisting } from "../../paths.ts";
import { expandHome, namesIn, programsIn, statOf } from "./commands.ts";
import { type GitVariables, type Setting, settingsIn, settingsOfVariables } from "./git-settings.ts";

export interface ConfiguredPath {
  /** The top of the working tree whose settings name it. */
  tree: string;
  path: string;
}

/**
 * Inside the working tree that the directory is in, also those that do not exist. Settings of the user may name relative paths,
 * too; but programs of theirs count only where they exist: they are meant for other repositories, and would close directories
 * of this one.
 */
export function configuredPaths(directory: string, variables: GitVariables = {}): ConfiguredPath[] {
  const repository = findRepository(directory);
  if (repository === undefined) return [];
  const { root: tree, gitDirectory } = repository;
  const common = findCommonDirectory(gitDirectory);
  const home = variables.HOME || homedir();
  const ofUser = userFiles(variables, home);
  const files = [
    ...[join(common, "config"), join(gitDirectory, "config.worktree")].map((file) => ({ file, isOwn: true })),
    ...ofUser.map((file) => ({ file, isOwn: false })),
  ];
  const found = new Set([...ofUser, ...linkedFiles(common)].flatMap((file) => pathInTree(tree, file)));
  const take = (setting: Setting, { file, isOwn }: { file: string; isOwn: boolean }): string[] => {
    const named = pathsIn(setting);
    const base = named.kind === "settings" ? dirname(file) : tree;
    const paths = named.paths.map((path) => resolve(base, expandHome(path, home)));
    const isAlias = setting.section === "alias";
    const missing = isOwn && !isAlias ? "counted" : "ignored";
    const search = { root: tree, home, missing, directories: isAlias ? "ignored" : "counted" } as const;
    for (const path of named.kind === "command" ? programsIn(setting.value, search) : paths)
      for (const inTree of pathInTree(tree, path)) found.add(inTree);
    return named.kind === "settings" ? paths : [];
  };
  const include = (paths: string[], isOwn: boolean) => files.unshift(...paths.map((file) => ({ file, isOwn })));
  for (const setting of settingsOfVariables(variables)) include(take(setting, { file: "/", isOwn: false }), false);
  const read = new Set<string>();
  for (let next = files.shift(); next !== undefined && read.size < maxFiles; next = files.shift()) {
    if (read.has(next.file)) continue;
    read.add(next.file);
    // What the repository includes counts as its own, also if the user includes the same.
    for (const setting of settingsIn(readRegularFile(next.file)?.toString("utf8") ?? ""))
      include(take(setting, next), next.isOwn);
  }
  return [...found].map((path) => ({ tree, path }));
}

/** What the git directory has as a link: people keep hooks in the working tree this way. */
function linkedFiles(common: string): string[] {
  const hooks = join(common, "hooks");
  const entries = ["config", "hooks", "info/attributes"].map((name) => join(common, name));
  return [...entries, ...namesIn(hooks).map((name) => join(hooks, name))].filter(isLink).flatMap(resolveExisting);
}

/** The links on the way to a path of the tree, and the path itself if it is one. */
export function linksOn({ tree, path }: ConfiguredPath): string[] {
  const parts = relative(tree, path).split("/");
  const steps = parts.map((_, index) => join(tree, ...parts.slice(0, index + 1)));
  return steps.filter(isLink);
}

export const isLink = (path: string): boolean => statOf(path)?.isSymbolicLink() === true;

function userFiles({ XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM }: GitVariables, home: string): string[] {
  const own = [join(home, ".gitconfig"), join(XDG_CONFIG_HOME || join(home, ".config"), "git/config")];
  const given = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM].flatMap((file) => (file ? [resolve(file)] : []));
  return [...own, "/etc/gitconfig", ...given];
}

const maxFiles = 64;

/** Different after every change of the file, or of what is directly in the directory. Commands cannot set it back. */
export function stampOf(path: string): string {
  const stats = statOf(path);
  if (stats === undefined) return "";
  const names = stats.isDirectory() ? namesIn(path) : [];
  return [stats, ...names.flatMap((name) => statOf(join(path, name)) ?? [])]
    .map(({ ino, mode, ctimeNs }) => `${ino} ${mode} ${ctimeNs}`)
    .join();
}

/** By this name, or by its own name where another one leads there. What is below `.git` is protected anyway. */
function pathInTree(tree: string, path: string): string[] {
  const isIn = (candidate: string) =>
    candidate !== tree && contains(tree, candidate) && !contains(join(tree, ".git"), candidate);
  return isIn(path) ? [path] : resolveExisting(path).filter(isIn);
}

interface NamedPaths {
  kind: "settings" | "file" | "command";
  paths: string[];
}

function pathsIn({ section, key, value }: Setting): NamedPaths {
  const isIncluded = key === "path" && /^include(?:if)?$/.test(section);
  if (isIncluded) return { kind: "settings", paths: [value] };
  // Those in `.husky/_` run the ones of the same name in `.husky`.
  if (section === "core" && key === "hookspath")
    return { kind: "file", paths: [basename(value) === "_" ? dirname(value) : value] };
  if (section === "init" && key === "templatedir") return { kind: "file", paths: [value] };
  const isRemoteCommand = section === "remote" && /^(?:push)?url$/.test(key) && value.startsWith("ext::");
  const isCommand = isRemoteCommand || (commands[section.split(".")[0] ?? ""]?.test(key) ?? false);
  return { kind: isCommand ? "command" : "file", paths: [] };
}

/** Settings whose value git runs. */
const commands: Record<string, RegExp> = {
  alias: /./,
  browser: /^(?:cmd|path)$/,
  core: /^(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)$/,
  credential: /^helper$/,
  diff: /^(?:external|textconv|command)$/,
  difftool: /^(?:cmd|path)$/,
  filter: /^(?:clean|smudge|process)$/,
  gc: /^recentobjectshook$/,
  guitool: /^cmd$/,
  hook: /^command$/,
  imap: /^tunnel$/,
  lfs: /^(?:path|clean|smudge)$/,
  man: /^(?:cmd|path)$/,
  sendemail: /(?:cmd|^smtpserver|^sendmailcmd)$/,
  gpg: /^(?:program|defaultkeycommand)$/,
  interactive: /^difffilter$/,
  merge: /^driver$/,
  mergetool: /^(?:cmd|path)$/,
  pager: /./,
  remote: /^(?:uploadpack|receivepack)$/,
  sequence: /^editor$/,
  submodule: /^update$/,
  tar: /^command$/,
  trailer: /^(?:command|cmd)$/,
  uploadpack: /^packobjectshook$/,
};
