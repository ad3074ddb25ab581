// Files of a working tree that git reads or runs because the configuration of its repository names them: included settings,
// the directory of hooks, and scripts. Who can change them decides what the user's next git command runs.
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, readRegularFile } from "../../git/index.ts";
import { contains } from "../../paths.ts";

/** Inside the working tree, also those that do not exist. Settings of the user may name relative paths, too. */
export function configuredPaths(root: string, home = homedir()): string[] {
  const git = findGitDirectory(root);
  if (git === undefined) return [];
  const files = [join(findCommonDirectory(git), "config"), join(git, "config.worktree")];
  files.push(join(home, ".gitconfig"), join(home, ".config/git/config"), "/etc/gitconfig");
  const found = new Set<string>();
  const read = new Set<string>();
  for (let file = files.shift(); file !== undefined && read.size < maxFiles; file = files.shift()) {
    if (read.has(file)) continue;
    read.add(file);
    for (const { section, key, value } of settingsIn(readRegularFile(file)?.toString("utf8") ?? "")) {
      const named = pathsIn(section, key, value);
      const base = named.kind === "settings" ? dirname(file) : root;
      const paths = named.paths.map((path) => resolve(base, path.replace(/^~(?=\/)/, home)));
      if (named.kind === "settings") files.push(...paths);
      for (const path of paths)
        if (isIn(root, path) && (named.kind !== "words" || isNamed(path, root))) found.add(path);
    }
  }
  return [...found];
}

const maxFiles = 64;

/** A word is a file if there is one; without a directory, as in `sh clean.sh`, only if it is a script. */
function isNamed(path: string, root: string): boolean {
  if (dirname(path) !== root) return existsSync(path);
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && isScript(path);
}

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

/** `words`: of a command, of which some may be files. */
function pathsIn(
  section: string,
  key: string,
  value: string,
): { kind: "settings" | "file" | "words"; paths: string[] } {
  const isIncluded = key === "path" && /^include(?:if)?$/.test(section);
  if (isIncluded) return { kind: "settings", paths: [value] };
  if (section === "core" && key === "hookspath") return { kind: "file", paths: [value] };
  const isCommand = commands[section.split(".")[0] ?? ""]?.test(key) ?? false;
  return { kind: "words", paths: isCommand ? value.split(/[\s'"]+/).filter(Boolean) : [] };
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
