// Finds programs for the host on PATH. npx and npm run put directories of the repository there, and an agent may have
// written a program into them; so may another user, into a directory that is open to all.
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { findRepositoryRoot } from "../git/index.ts";
import { contains, resolveExisting } from "../paths.ts";
import { type OutputPath, outputPath } from "./links.ts";
import { withoutPlantedCode } from "./loaded-code.ts";
import { freshLooks, type Looks } from "./looks.ts";

export interface ProgramSearch {
  /** PATH. */
  path: string;
  /** Agents may write here: programs below are not used. */
  untrusted: string[];
  /** Absent: each search looks at the file system anew. */
  looks?: Looks;
}

export interface HostProgramsOptions {
  /** PATH; the usual one when absent or empty. */
  path: string | undefined;
  /** Of the user. */
  home: string;
  untrusted: string[];
}

export interface HostPrograms {
  search(): ProgramSearch;
  /** From now on no program below these directories is used. */
  distrust(directories: string[]): void;
  /** The real path of a program. Throws ProgramNotFound. */
  find(name: string): string;
  /** Whether only the user and root can have written what is at this path. */
  isTrusted(path: string): boolean;
  /** What an agent may have done to a path that is to be written. */
  outputPath(path: string): OutputPath;
  /** PATH for programs that run on the host: the directories that can be trusted. */
  path(): string;
  /** The variables for programs that run on the host: with this PATH, and without code that an agent may have written. */
  environment(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
}

export class ProgramNotFound extends Error {
  override name = "ProgramNotFound";
  readonly code = "ENOENT";
}

/** Directories of the system, also of one that keeps them elsewhere. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/**
 * Where programs of the user start: interpreters and build tools load files of their working directory. Not the home,
 * which may have been the workspace of another run.
 */
export const hostDirectory = "/";

/** Resolves each program once, as long as only the user and root can change it. */
export function openHostPrograms({ path, home, untrusted }: HostProgramsOptions): HostPrograms {
  const directories = new Set(untrusted);
  const found = new Map<string, string>();
  let cleanPath: string | undefined;
  const pathOfHost = () => {
    cleanPath ??= trustedPath(search());
    return cleanPath;
  };
  const search = (): ProgramSearch => ({
    path: path || systemPath,
    untrusted: [...directories].flatMap((directory) => [directory, ...repositoryOf(directory, home)]),
  });
  return {
    search,
    distrust(more) {
      const fresh = more.filter((directory) => !directories.has(directory));
      if (fresh.length === 0) return;
      for (const directory of fresh) directories.add(directory);
      found.clear();
      cleanPath = undefined;
    },
    find(name) {
      const known = found.get(name);
      // Another user may have been allowed to write there since.
      const program = known && freshLooks.safePathsOf(known).includes(known) ? known : findProgram(name, search());
      if (program === undefined) throw notFound(name, search());
      found.set(name, program);
      return program;
    },
    isTrusted: (path) => path.startsWith("/") && trustIn(search())(path),
    outputPath: (path) => outputPath(path, insideIn(search())),
    path: pathOfHost,
    environment: (variables) => ({ ...withoutPlantedCode(variables, isOutside(search())), PATH: pathOfHost() }),
  };
}

/** The repository around, where agents may have worked before. One that holds the whole home says nothing. */
function repositoryOf(directory: string, home: string): string[] {
  const root = findRepositoryRoot(directory);
  return root === undefined || contains(root, home) ? [] : [root];
}

/** The real path of the first program of this name that can be trusted. */
export function findProgram(name: string, search: ProgramSearch): string | undefined {
  const isTrusted = trustIn(search);
  const { programAt } = search.looks ?? freshLooks;
  for (const candidate of shimsLast(candidatesOf(name, search))) {
    const program = programAt(candidate);
    if (program !== undefined && isTrusted(dirname(candidate)) && isTrusted(program)) return program;
  }
  return undefined;
}

/** Of asdf, mise, pyenv and the like: they ask the files of the working directory which program to start. */
const shimsLast = (candidates: string[]): string[] => {
  const isShim = (path: string) => basename(dirname(path)) === "shims";
  return [...candidates.filter((path) => !isShim(path)), ...candidates.filter(isShim)];
};

/** PATH without the directories that an agent or another user can write. By their real paths: a link may be changed later. */
export function trustedPath(search: ProgramSearch): string {
  const isTrusted = trustIn(search);
  const { realPathsOf } = search.looks ?? freshLooks;
  const directories = candidatesOf("", search).map((directory) => resolve(directory));
  return [...new Set(directories.filter(isTrusted).flatMap(realPathsOf))].join(delimiter);
}

function notFound(name: string, search: ProgramSearch): ProgramNotFound {
  const refused = candidatesOf(name, search).find((candidate) => freshLooks.programAt(candidate) !== undefined);
  const why = refused && `: ${refused} is not used, because an agent or another user may have written it`;
  return new ProgramNotFound(
    `The program ${name} was not found on PATH${why ?? ""}. Install it in a directory that only you or root can write.`,
  );
}

const candidatesOf = (name: string, { path }: ProgramSearch): string[] =>
  path
    .split(delimiter)
    .filter((directory) => directory.startsWith("/"))
    .map((directory) => join(directory, name));

type Trust = (path: string) => boolean;

/** Whether a path is in a directory of the agent. With / as the workspace, the whole machine is trusted. */
function insideIn({ untrusted, looks = freshLooks }: ProgramSearch): (path: string) => boolean {
  const storedAt = looks.mounts();
  const roots = untrusted
    .filter((root) => root !== "/")
    .flatMap((root) => [resolve(root), ...looks.realPathsOf(root)])
    .flatMap((root) => [root, storedAt(root)]);
  return (path) => [path, storedAt(path)].some((name) => roots.some((root) => contains(root, name)));
}

/** Where no agent can write. */
function isOutside(search: ProgramSearch): Trust {
  const isInside = insideIn(search);
  return (path) => ![resolve(path), realOf(resolve(path))].some(isInside);
}

/** Of what does not exist yet, the nearest directory that does. */
function realOf(path: string): string {
  const [real] = resolveExisting(path);
  return real ?? (path === dirname(path) ? path : realOf(dirname(path)));
}

function trustIn(search: ProgramSearch): Trust {
  const { looks = freshLooks } = search;
  const isInside = insideIn(search);
  const isOfAgent = (path: string) => isOfPackages(path) || isInside(path);
  return (path) => !isOfAgent(path) && looks.safePathsOf(path).some((real) => !isOfAgent(real));
}

/** Where package managers put the programs of a project, of whichever project. */
const isOfPackages = (path: string): boolean => basename(path) === ".bin" && basename(dirname(path)) === "node_modules";
