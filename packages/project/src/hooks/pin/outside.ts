// Programs and scripts outside the workspace: those that belong to the user need no copy. Others are refused.
import { basename, dirname } from "node:path";
import { contains } from "../../files/directories.ts";
import { Unpinnable } from "./shell-reader.ts";

/** Directories that every user can write to. */
const sharedDirectories = ["/tmp", "/var/tmp", "/dev/shm"];

/** For whatever is run by its path, also if its name is known. */
export function checkLocation(path: string): void {
  if (sharedDirectories.includes(dirname(path)))
    throw new Unpinnable(`${path} is in a directory that every user can write to`);
  if (/^\/(?:dev|proc)\//.test(path)) throw new Unpinnable(`what ${path} names is known only when it runs`);
}

/** Where programs of the system and of package managers are: nothing there was written for hooks. */
const systemDirectories =
  /^\/(?:usr\/(?!local\/)|s?bin\/|lib\w*\/|snap\/|nix\/|gnu\/|opt\/(?:homebrew|local)\/|home\/linuxbrew\/|usr\/local\/(?:Cellar|opt)\/|System\/|Applications\/)/;
const installedPackages = /\/(?:node_modules|site-packages|dist-packages)\//;

/** A program of no known name is the user's own, unless it is a general tool. `paths`: as given, and without links. */
export function checkIsOwn(program: string, paths: string[]): void {
  const names = [program, ...paths].map((path) => basename(path));
  const tool = names.find((name) => generalTools.has(name));
  if (tool !== undefined) throw new Unpinnable(`what \`${tool}\` runs or loads from the workspace is not known`);
  const [name] = names;
  if (paths.some((path) => systemDirectories.test(path)))
    throw new Unpinnable(
      `${program} is a program of the system, and what \`${name}\` runs or loads from the workspace is not known`,
    );
  if (paths.some((path) => installedPackages.test(path)))
    throw new Unpinnable(
      `${program} belongs to an installed package, and what it runs or loads from the workspace is not known`,
    );
}

/** Tools that run or load what files of a project or arguments name. Users install them in their own directories too. */
export const generalTools = new Set(
  `ag ant ash ansible-playbook bat bazel bb biome bun bundle bunx busybox bwrap cargo chroot clojure cmake composer conda
  crystal csh deno direnv doas docker dotnet dune ed elixir emacs erl eslint eval ex expect fd fish flock gcc gdb gh git
  gmake go gradle gradlew guile hg jest jj julia just lake less lldb ltrace lua luajit m4 make man mix mksh mocha more mvn
  mypy nano nerdctl ninja nix nmake npm npx nu nvim ocaml osascript parallel perf php pip pip3 pipenv pipx pnpm podman
  poetry pre-commit prettier prlimit proot psql pylint pypy pypy3 pytest pwsh R rake rbash rg rsync Rscript ruff runuser
  rustc sbt scala screen script scp setarch setpriv socat sqlite3 ssh strace su sudo svn swift systemd-run taskset tar
  task tclsh tcsh tmux tox toybox tsc ts-node tsx uv uvx valgrind vi view vim vimdiff vite vitest watch watchexec wget
  xargs xonsh yarn zip zsh-static`.split(/\s+/),
);

/** A file that the command writes before it runs it is not the user's own. */
export function checkWritten(ran: string[], written: string[]): void {
  const found = ran.find((path) => written.some((target) => contains(target, path)));
  if (found !== undefined) throw new Unpinnable(`${found} is written by the command itself`);
}
