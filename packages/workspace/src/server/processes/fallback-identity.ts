// The identity of commits where git has none configured: in the level of git's configuration that every other one
// overrides. The first command that commits with it says so.
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "../../environment/index.ts";
import { findRepository, readRegularFile } from "../../git/index.ts";
import { findProgram } from "../../programs/index.ts";

export interface FallbackIdentity {
  /** What a process with this environment gets in addition. */
  variablesFor(env: Environment): Environment;
  /** Looks at the repositories of a command that starts; call the result when it has exited. */
  watch(command: Command): () => string | undefined;
  close(): void;
}

export interface Command {
  argv: string[];
  cwd: string;
}

const email = "agentcli@localhost";
const note = `No git identity is configured: commits are by agentcli <${email}>.\n`;

export function openFallbackIdentity(): FallbackIdentity {
  const files = new Map<string, string>();
  /** Few environments start all processes. */
  const known = new WeakMap<Environment, Environment>();
  const reflogs = openReflogs();
  let directory: string | undefined;
  let isNoted = false;

  function fileWith(content: string): string {
    const existing = files.get(content);
    if (existing !== undefined) return existing;
    directory ??= makeDirectory();
    const path = join(directory, `${files.size}.gitconfig`);
    writeFileSync(path, content, { flag: "wx", mode: 0o600 });
    files.set(content, path);
    return path;
  }

  function createVariables(env: Environment): Environment {
    try {
      const path = fileWith(configFor(env));
      return { GIT_CONFIG_SYSTEM: path, ...(env.GIT_CONFIG_NOSYSTEM !== undefined && { GIT_CONFIG_NOSYSTEM: "0" }) };
    } catch {
      // No temporary files can be written here: git reports that it does not know the user.
      return {};
    }
  }

  return {
    variablesFor(env) {
      const variables = known.get(env) ?? createVariables(env);
      known.set(env, variables);
      return variables;
    },
    watch(command) {
      if (isNoted) return () => undefined;
      const before = directoriesOf(command).map(reflogs.last);
      return () => {
        if (isNoted) return undefined;
        isNoted = before.some((last) => reflogs.grown(last).some(isByFallback));
        return isNoted ? note : undefined;
      };
    },
    close() {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
      files.clear();
      directory = undefined;
    },
  };
}

const prefix = "agent-git-";

/** Those of servers that were killed are removed: of no living process, and a day old, in case processes are hidden here. */
function makeDirectory(): string {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = stats?.isDirectory() === true && stats.uid === process.getuid?.();
    if (isOwn && Date.now() - stats.mtimeMs > leftoverMs && !isAlive(Number(name.slice(prefix.length).split("-")[0])))
      rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
}

const leftoverMs = 24 * 60 * 60 * 1000;

function isAlive(processId: number): boolean {
  try {
    return processId > 0 && process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** The reflogs of the repository that a directory is in. */
interface Reflogs {
  path: string;
  /** Of its `.git`; undefined if it has none of its own: another one may be made in it, or above it. */
  inode: number | undefined;
  /** In bytes, by path. */
  sizes: Map<string, number>;
}

interface ReflogReader {
  /** As they were when a command in this directory last ended; read now if it has another repository since. */
  last(path: string): Reflogs;
  /** Those that are longer than they were. */
  grown(last: Reflogs): string[];
}

/** Most commands start in the same directory: between two of them, one look tells that it is the same repository. */
function openReflogs(): ReflogReader {
  const known = new Map<string, Reflogs>();
  const look = (path: string): Reflogs => {
    if (known.size >= maxKnown) known.clear();
    const reflogs = readReflogs(path);
    known.set(path, reflogs);
    return reflogs;
  };
  return {
    last(path) {
      const last = known.get(path);
      return last !== undefined && isSame(last) ? last : look(path);
    },
    grown(last) {
      const now = isSame(last) ? readSizes(last) : look(last.path);
      known.set(last.path, now);
      return [...now.sizes].flatMap(([path, size]) => (size > (last.sizes.get(path) ?? 0) ? path : []));
    },
  };
}

const maxKnown = 100;

function readReflogs(path: string): Reflogs {
  const repository = findRepository(path);
  const names = repository === undefined ? [] : ["logs/HEAD", "logs/refs/stash"];
  const inode = repository?.root === path ? inodeOf(path) : undefined;
  return readSizes({
    path,
    inode,
    sizes: new Map(names.map((name) => [join(repository?.gitDirectory ?? "", name), 0])),
  });
}

const readSizes = ({ path, inode, sizes }: Reflogs): Reflogs => ({
  path,
  inode,
  sizes: new Map([...sizes.keys()].map((reflog) => [reflog, sizeOf(reflog)])),
});

const isSame = ({ path, inode }: Reflogs): boolean => inode !== undefined && inode === inodeOf(path);

/** Of a `.git` directory: a file may point elsewhere each time. */
function inodeOf(path: string): number | undefined {
  try {
    const stats = lstatSync(join(path, ".git"), { throwIfNoEntry: false });
    return stats?.isDirectory() ? stats.ino : undefined;
  } catch {
    return undefined;
  }
}

/** Git reads EMAIL only if no level of its configuration has an address. */
function configFor(env: Environment): string {
  const address = env.EMAIL ? "" : `\temail = ${email}\n`;
  const system = systemConfigOf(env);
  return `[user]\n\tname = agentcli\n${address}${system === undefined ? "" : `[include]\n\tpath = ${JSON.stringify(system)}\n`}`;
}

/** What git would read in place of our file: /etc/gitconfig, unless it is installed elsewhere. */
function systemConfigOf(env: Environment): string | undefined {
  if (!/^(0|false|no|off|)$/i.test(env.GIT_CONFIG_NOSYSTEM ?? "")) return undefined;
  if (env.GIT_CONFIG_SYSTEM !== undefined) return env.GIT_CONFIG_SYSTEM;
  const program = findProgram("git", { path: env.PATH ?? "", untrusted: [] });
  const installed = program === undefined ? "/usr" : dirname(dirname(realpathSync(program)));
  return installed === "/usr" || installed === "/" ? "/etc/gitconfig" : join(installed, "etc/gitconfig");
}

/** Those that a command starts in, or names by `cd` or `-C`. */
function directoriesOf({ argv, cwd }: Command): string[] {
  const named = [...(argv.at(-1) ?? "").matchAll(/(?:\bcd|-C)\s+(?:"([^"]+)"|'([^']+)'|([^\s;&|)]+))/g)];
  const directories = named.map(([, double, single, plain]) => resolve(cwd, double ?? single ?? plain ?? "."));
  return [...new Set([cwd, ...directories])];
}

/** 0 if it cannot be read: the command may have locked the repository, or put a link in its place. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}

/** The committer of the last entry. */
function isByFallback(reflog: string): boolean {
  const last = readRegularFile(reflog)?.toString().trimEnd().split("\n").at(-1) ?? "";
  return last.slice(0, last.indexOf("\t")).includes(` <${email}> `);
}
