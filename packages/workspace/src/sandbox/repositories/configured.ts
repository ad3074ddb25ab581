// Files of a working tree that git reads or runs because the configuration of its repository names them: included settings,
// the directory of hooks, and scripts. Who can change them decides what the user's next git command runs.
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, readRegularFile } from "../../git/index.ts";
import { contains } from "../../paths.ts";

/** Variables that say where git finds the settings of the user. */
export type GitVariables = Readonly<Record<string, string | undefined>>;

/**
 * Inside the working tree, also those that do not exist. Settings of the user may name relative paths, too; but programs of
 * theirs count only where they exist: they are meant for other repositories, and would close directories of this one.
 */
export function configuredPaths(root: string, variables: GitVariables = {}): string[] {
  const git = findGitDirectory(root);
  if (git === undefined) return [];
  const home = variables.HOME || homedir();
  const ofUser = userFiles(variables, home);
  const own = [join(findCommonDirectory(git), "config"), join(git, "config.worktree")];
  const files = [...own.map((file) => ({ file, isOwn: true })), ...ofUser.map((file) => ({ file, isOwn: false }))];
  const found = new Set(ofUser.filter((file) => isIn(root, file)));
  const read = new Set<string>();
  for (let next = files.shift(); next !== undefined && read.size < maxFiles; next = files.shift()) {
    const { file, isOwn } = next;
    if (read.has(file)) continue;
    read.add(file);
    for (const { section, key, value } of settingsIn(readRegularFile(file)?.toString("utf8") ?? "")) {
      const named = pathsIn(section, key, value);
      const base = named.kind === "settings" ? dirname(file) : root;
      const paths = named.paths.map((path) => resolve(base, path.replace(/^~(?=\/)/, home)));
      // What the repository includes counts as its own, also if the user includes the same.
      if (named.kind === "settings") files.unshift(...paths.map((path) => ({ file: path, isOwn })));
      const missing = isOwn && section !== "alias" ? "counted" : "ignored";
      for (const path of named.kind === "command" ? programsIn(value, { root, home, missing }) : paths)
        if (isIn(root, path)) found.add(path);
    }
  }
  return [...found];
}

function userFiles({ XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM }: GitVariables, home: string): string[] {
  const own = [join(home, ".gitconfig"), join(XDG_CONFIG_HOME || join(home, ".config"), "git/config")];
  const given = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM].flatMap((file) => (file ? [resolve(file)] : []));
  return [...own, "/etc/gitconfig", ...given];
}

const maxFiles = 64;

interface ProgramSearch {
  root: string;
  home: string;
  /** Programs that do not exist. */
  missing: "counted" | "ignored";
}

/**
 * The files that a command names, in whatever directory of the tree `$(git rev-parse --show-toplevel)/x` or `$PWD/x` is.
 * A program may be missing; another word is a file only if there is one.
 */
function programsIn(command: string, { root, home, missing }: ProgramSearch): string[] {
  const starts = command.split(/[|&;(]+/).map((text) => /^[\s!'"]*([^\s'"]+)/.exec(text)?.[1] ?? "");
  const programs = starts.filter((word) => /^(?:\.{1,2}\/|\w)[\w.-]*(?:\/[\w.-]+)+$/.test(word));
  const words = command.split(/[\s'"`|&;()<>${}=]+/).filter(Boolean);
  const below = words.filter((word) => word.includes("/")).map((word) => `.${word.slice(word.indexOf("/"))}`);
  const inTree = (word: string) => resolve(root, word.replace(/^~(?=\/)/, home));
  return [
    ...programs.map(inTree).filter((path) => missing === "counted" || existsSync(path)),
    ...words.map(inTree).filter((path) => isNamed(path, root)),
    ...below.map(inTree).filter((path) => isFile(path) && isNamed(path, root)),
  ];
}

/** A word is a file if there is one; without a directory, as in `sh clean.sh`, only if it is a script. */
function isNamed(path: string, root: string): boolean {
  return dirname(path) === root ? isFile(path) && isScript(path) : existsSync(path);
}

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

const isScript = (path: string): boolean =>
  /\.(?:\w*sh|py|rb|pl|[mc]?[jt]s)$/.test(path) || readRegularFile(path)?.subarray(0, 2).toString() === "#!";

/** Different after every change of the file, or of what is directly in the directory. Commands cannot set it back. */
export function stampOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return "";
  const below = stats.isDirectory()
    ? readdirSync(path).map((name) => lstatSync(join(path, name), { bigint: true }))
    : [];
  return [stats, ...below].map(({ ino, mode, ctimeNs }) => `${ino} ${mode} ${ctimeNs}`).join();
}

/** What is below `.git` is protected anyway. */
const isIn = (root: string, path: string): boolean =>
  path !== root && contains(root, path) && !contains(join(root, ".git"), path);

interface Setting {
  section: string;
  key: string;
  value: string;
}

function* settingsIn(text: string): Generator<Setting> {
  let section = "";
  for (const line of text.replaceAll(/\\\r?\n/g, "").split(/\r?\n/)) {
    const [header = "", name] = /^\s*\[\s*([\w.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]/.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase();
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line.slice(header.length)) ?? [];
    if (key !== undefined) yield { section, key: key.toLowerCase(), value: unquoted(value ?? "") };
  }
}

/** Without quotes, and without a comment that follows. */
const unquoted = (value: string): string =>
  value
    .replaceAll(/"((?:[^"\\]|\\.)*)"|[#;].*$/g, "$1")
    .replaceAll(/\\(.)/g, "$1")
    .trim();

interface NamedPaths {
  kind: "settings" | "file" | "command";
  paths: string[];
}

function pathsIn(section: string, key: string, value: string): NamedPaths {
  const isIncluded = key === "path" && /^include(?:if)?$/.test(section);
  if (isIncluded) return { kind: "settings", paths: [value] };
  // Those in `.husky/_` run the ones of the same name in `.husky`.
  if (section === "core" && key === "hookspath")
    return { kind: "file", paths: [basename(value) === "_" ? dirname(value) : value] };
  if (section === "init" && key === "templatedir") return { kind: "file", paths: [value] };
  const isCommand = commands[section.split(".")[0] ?? ""]?.test(key) ?? false;
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
  guitool: /^cmd$/,
  hook: /^command$/,
  imap: /^tunnel$/,
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
