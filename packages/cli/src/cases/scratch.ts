// Copies of the project for test cases: what git would commit, with a commit of its own.
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import { git } from "@agentcli/host/git";

export interface Scratch {
  /** An agent home without anything in it. */
  home: string;
  /** A copy of the project with these files added. */
  copy(files: Map<string, string>): ProjectCopy;
  remove(): void;
}

export interface ProjectCopy {
  root: string;
  /** Paths that are not as they were when it was copied. */
  touched(): string[];
  /** Null where there is none, or it is not a regular file below the root. */
  readFile(path: string): string | null;
  remove(): Promise<void>;
}

export async function openScratch(project: string, environment: Environment): Promise<Scratch> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "agentcli-test-")));
  const [base, home] = [join(directory, "base"), join(directory, "home")];
  let copies = 0;
  let entries: Entry[];
  try {
    mkdirSync(home, { mode: 0o700 });
    mkdirSync(base);
    for (const path of await projectFiles(project, environment)) copyFile(path, { from: project, to: base });
    await commitAll(base, environment);
    entries = listEntries(base);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    home,
    copy(files) {
      copies += 1;
      const root = join(directory, `case-${copies}`);
      copyEntries(entries, { from: base, to: root });
      for (const [path, text] of files) writeInside(root, path, text);
      return openCopy(root);
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

interface Entry {
  path: string;
  kind: "directory" | "file" | "link";
}

/** A directory comes before what is in it. */
function listEntries(root: string, below = ""): Entry[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry): Entry[] => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return [{ path, kind: "directory" }, ...listEntries(root, path)];
    if (entry.isSymbolicLink()) return [{ path, kind: "link" }];
    return entry.isFile() ? [{ path, kind: "file" }] : [];
  });
}

/** Every case has a copy: what is in it was listed once. */
function copyEntries(entries: Entry[], { from, to }: { from: string; to: string }): void {
  mkdirSync(to);
  for (const { path, kind } of entries) {
    const [source, target] = [join(from, path), join(to, path)];
    if (kind === "directory") mkdirSync(target);
    else if (kind === "link") symlinkSync(readlinkSync(source), target);
    else copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Files that git has or would add; without a repository all but dependencies. */
export async function projectFiles(project: string, environment: Environment): Promise<string[]> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { code, stdout } = await git({ directory: project, args, environment });
  if (code !== 0) return [...walk(project)].map((path) => relative(project, path));
  return stdout.toString().split("\0").filter(isOfProject);
}

/** Who wrote the index may have been another than git, which refuses such names. */
const isOfProject = (path: string): boolean =>
  path !== "" && !path.startsWith("/") && !path.split("/").some((name) => name === ".." || /^\.git$/i.test(name));

const skipped = new Set([".git", "node_modules"]);

function* walk(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}

/** A listed file may be gone, be the directory of a submodule, or lead out of the project through a link above it. */
function copyFile(path: string, { from, to }: { from: string; to: string }): void {
  const [source, target] = [join(from, path), join(to, path)];
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (!stats || !(stats.isFile() || stats.isSymbolicLink()) || !isInside(realpathSync(from), dirname(source))) return;
  if (!makeInside(to, dirname(target))) return;
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
  else copyFileSync(source, target, constants.COPYFILE_FICLONE);
}

/** False if a link above the directory leads out of the root; nothing is created then. */
function makeInside(root: string, directory: string): boolean {
  let existing = directory;
  while (!existsSync(existing)) existing = dirname(existing);
  if (!isInside(root, existing)) return false;
  mkdirSync(directory, { recursive: true });
  return true;
}

async function commitAll(directory: string, environment: Environment): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const variables = { ...environment.variables, ...isolated };
  const run = async (...args: string[]) => {
    const { code, stderr } = await git({ directory, args, environment: { ...environment, variables } });
    if (code !== 0)
      throw new CommandError("usage", `git ${args[0]} failed in the copy of the project: ${stderr.trim()}`);
  };
  await run("init", "--quiet", "--template=", "--initial-branch=main");
  // Into one file, not one for each: all of them are copied and removed for every case.
  await run("-c", "core.bigFileThreshold=1", "add", "--all", "--force");
  const author = [
    "-c",
    "core.logAllRefUpdates=false",
    "-c",
    "user.name=agentcli test",
    "-c",
    "user.email=agentcli-test@localhost",
  ];
  await run(...author, "commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message=The project under test");
}

/** Filters and settings of the user are not part of the project. */
const isolated = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function writeInside(root: string, path: string, text: string): void {
  const target = join(root, path);
  // A link of the project could lead out of the copy.
  if (!makeInside(root, dirname(target)))
    throw new CommandError("usage", `files: ${path} leads out of the project through a link.`);
  rmSync(target, { force: true });
  writeFileSync(target, text, { flag: "wx" });
}

const isInside = (root: string, directory: string): boolean => `${realpathSync(directory)}/`.startsWith(`${root}/`);

function openCopy(root: string): ProjectCopy {
  const before = snapshot(root);
  return {
    root,
    touched() {
      const after = snapshot(root);
      const paths = new Set([...before.keys(), ...after.keys()]);
      return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
    },
    readFile(path) {
      const target = join(root, path);
      const isFile = lstatSync(target, { throwIfNoEntry: false })?.isFile() && isInside(root, dirname(target));
      return isFile ? readFileSync(target, "utf8") : null;
    },
    // Others run meanwhile: removing a copy takes as long as some cases.
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** The time of the last change of an entry cannot be set by a program. */
function snapshot(root: string): Map<string, string> {
  return new Map(
    [...walk(root)].map((path) => {
      const { ino, size, mode, ctimeNs } = lstatSync(path, { bigint: true });
      return [relative(root, path), `${ino} ${size} ${mode} ${ctimeNs}`];
    }),
  );
}
