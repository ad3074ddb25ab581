// The identity of commits where git has none configured: in the level of git's configuration that every other one
// overrides. The first command that commits with it says so.
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "../../environment/index.ts";
import { type FoundRepository, findRepository, readRegularFile } from "../../git/index.ts";
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
  const repositoryOf = openRepositoryFinder();
  let directory: string | undefined;
  let isNoted = false;

  function fileWith(content: string): string {
    const existing = files.get(content);
    if (existing !== undefined) return existing;
    directory ??= mkdtempSync(join(tmpdir(), "agent-git-"));
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
      const repositories = directoriesOf(command).map((path) => ({ path, repository: repositoryOf(path) }));
      const before = new Map(repositories.flatMap(reflogsOf).map((path) => [path, sizeOf(path)]));
      return () => {
        if (isNoted) return undefined;
        // The command may have made one in a directory that had none of its own.
        const now = repositories.map(({ path, repository }) => ({
          repository: repository?.root === path ? repository : findRepository(path),
        }));
        isNoted = now.flatMap(reflogsOf).some((path) => sizeOf(path) > (before.get(path) ?? 0) && isByFallback(path));
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

/** Most commands start in the same directory, and each would look for its repository again. */
function openRepositoryFinder(): (path: string) => FoundRepository | undefined {
  const tops = new Map<string, FoundRepository>();
  return (path) => {
    const top = tops.get(path);
    if (top !== undefined && sizeOf(join(top.gitDirectory, "logs/HEAD")) > 0) return top;
    const found = findRepository(path);
    if (found?.root === path) tops.set(path, found);
    return found;
  };
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
  const prefix = program === undefined ? "/usr" : dirname(dirname(realpathSync(program)));
  return prefix === "/usr" || prefix === "/" ? "/etc/gitconfig" : join(prefix, "etc/gitconfig");
}

/** Those that a command starts in, or names by `cd` or `-C`. */
function directoriesOf({ argv, cwd }: Command): string[] {
  const named = [...(argv.at(-1) ?? "").matchAll(/(?:\bcd|-C)\s+(?:"([^"]+)"|'([^']+)'|([^\s;&|)]+))/g)];
  const directories = named.map(([, double, single, plain]) => resolve(cwd, double ?? single ?? plain ?? "."));
  return [...new Set([cwd, ...directories])];
}

const reflogsOf = ({ repository }: { repository: ReturnType<typeof findRepository> }): string[] =>
  repository === undefined ? [] : ["logs/HEAD", "logs/refs/stash"].map((name) => join(repository.gitDirectory, name));

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
