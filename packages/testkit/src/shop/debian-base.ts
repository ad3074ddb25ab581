// The root directory of a small Debian, copied from the programs of this host, with a local archive of packages in /srv.
import { execFileSync } from "node:child_process";
import {
  accessSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { writeDebianPackage } from "./debian-package.ts";
import { writeNpmPackage } from "./npm-package.ts";

const programs = [
  ...["sh", "bash", "cat", "chmod", "chown", "cp", "cut", "date", "dirname", "echo", "env", "head", "id", "ln", "ls"],
  ...["mkdir", "mktemp", "mv", "rm", "rmdir", "sleep", "stat", "tail", "touch", "true", "uname", "hostname"],
  ...["find", "xargs", "grep", "sed", "tar", "getent", "setpriv", "tmux", "git", "diff", "locale"],
  ...["apt-get", "apt-config", "dpkg", "dpkg-deb", "dpkg-split", "dpkg-query", "ldconfig", "start-stop-daemon"],
];
/** Of tmux, of dpkg and apt-get, and the locale of commands. */
const data = ["/lib/terminfo", "/usr/share/dpkg", "/usr/lib/locale/C.utf8"];
const systemPath = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/** `_apt` fetches packages, and is given none of root's files. */
const users = [
  "root:x:0:0::/root:/bin/bash",
  "_apt:x:42:65534::/nonexistent:/bin/false",
  "nobody:x:65534:65534::/:/bin/false",
];
const emptyDirectories = [
  ...["tmp", "run", "dev", "proc", "sys", "root", "home", "workspace", "opt", "var/tmp", "var/lib/dpkg/info"],
  ...["var/lib/dpkg/updates", "var/lib/dpkg/alternatives", "var/lib/dpkg/triggers", "var/lib/apt/lists/partial"],
  ...["var/cache/apt/archives/partial", "var/log/apt", "etc/apt/apt.conf.d", "etc/apt/preferences.d"],
  ...["etc/apt/trusted.gpg.d", "etc/dpkg/dpkg.cfg.d", "usr/local/bin"],
];

/** Throws where a program is missing, and names it. `postgresDirectory`: the programs of PostgreSQL, which become a package. */
export function makeDebianBase(root: string, postgresDirectory: string): void {
  mkdirSync(join(root, "usr"), { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib64"]) linkMerged(root, name);
  for (const name of emptyDirectories) mkdirSync(join(root, name), { recursive: true });
  const found = [...programs.map(findProgram), ...aptMethods()];
  const database = ["initdb", "pg_ctl", "postgres"].map((name) => join(postgresDirectory, "bin", name));
  const libraries = librariesOf([process.execPath, ...database, ...found]);
  const ofHost = libraries.filter((path) => !path.startsWith(dirname(postgresDirectory)));
  for (const path of new Set([...found, ...ofHost])) copy(root, path);
  for (const path of data) if (existsSync(path)) copy(root, path);
  writeSystemFiles(root);
  writeNode(root);
  const archive = join(root, "srv/packages");
  mkdirSync(archive, { recursive: true });
  writeDebianPackage(archive, postgresDirectory);
  writeNpmPackage(archive);
}

/** As on this host: a link to the directory below /usr, or a directory. */
function linkMerged(root: string, name: string): void {
  if (!existsSync(join("/", name))) return;
  const isLink = lstatSync(join("/", name)).isSymbolicLink();
  mkdirSync(join(root, "usr", name), { recursive: true });
  if (isLink) symlinkSync(readlinkSync(join("/", name)).replace(/^\//, ""), join(root, name));
  else mkdirSync(join(root, name));
}

function findProgram(name: string): string {
  for (const directory of systemPath) {
    const path = join(directory, name);
    try {
      accessSync(path);
      return path;
    } catch {
      // Not in this directory; the next may have it.
    }
  }
  throw new Error(`This test needs ${name}, which is not installed.`);
}

const aptMethods = () =>
  readdirSync("/usr/lib/apt/methods").flatMap((name) => {
    const path = join("/usr/lib/apt/methods", name);
    return ["file", "copy", "store", "gpgv"].includes(name) ? path : [];
  });

const librariesOf = (paths: string[]) =>
  paths.flatMap((path) => {
    try {
      const text = execFileSync("ldd", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
      return [...text.matchAll(/(\/\S+) \(0x/g)].map(([, library = ""]) => library);
    } catch {
      // Not a dynamic program.
      return [];
    }
  });

function copy(root: string, path: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  cpSync(path, join(root, path), { recursive: true, dereference: true });
}

function writeSystemFiles(root: string): void {
  const files = {
    "etc/passwd": users.join("\n"),
    "etc/group": ["root:x:0:", "nogroup:x:65534:"].join("\n"),
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files",
    "etc/hosts": "127.0.0.1 localhost",
    "etc/apt/sources.list": "deb [trusted=yes] file:/srv/packages ./",
    "var/lib/dpkg/status": "",
    "var/lib/dpkg/available": "",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text === "" ? "" : `${text}\n`);
}

/** The machine's own Node, and npm of this host. */
function writeNode(root: string): void {
  const npm = dirname(dirname(realpathSync(findOnPath("npm"))));
  cpSync(npm, join(root, "usr/lib/npm"), { recursive: true, dereference: true });
  const script = (command: string) => `#!/bin/sh\nexec /run/agent/node ${command}"$@"\n`;
  writeFileSync(join(root, "usr/local/bin/node"), script(""), { mode: 0o755 });
  writeFileSync(join(root, "usr/local/bin/npm"), script("/usr/lib/npm/bin/npm-cli.js "), { mode: 0o755 });
}

function findOnPath(name: string): string {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(existsSync);
  if (path === undefined) throw new Error(`This test needs ${name}, which is not installed.`);
  return path;
}
