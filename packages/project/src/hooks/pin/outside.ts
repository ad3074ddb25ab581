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
/** In hidden directories package managers keep what they install; ~/.local/bin and a `hooks` are the user's own too. */
const managedPrograms =
  /\/(?:\.(?!local\/bin\/)[^/]+\/(?:[^/]+\/)*(?:s?bin|shims|tools|venvs|installs|toolchains)|go\/bin|vendor\/bin|(?:gems|pipx|venvs?|miniconda\d*|anaconda\d*)\/(?:[^/]+\/)*bin)\/[^/]+$/;

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
  if (paths.some((path) => installedPackages.test(path) || managedPrograms.test(path)))
    throw new Unpinnable(
      `${program} belongs to an installed package, and what it runs or loads from the workspace is not known`,
    );
}

/** Tools that run or load what files of a project or arguments name. Users install them in their own directories too. */
export const generalTools = new Set(
  `act ag ansible ansible-lint ansible-playbook ant arduino-cli asdf ash astyle autopep8 ava bandit basedpyright bat
  bazel bb biome brakeman buck buf bun bundle bundler bunx busybox bwrap c8 cargo chroot clang-tidy cljfmt clojure
  cmake codespell commitlint composer conda credo crystal csh ctest cypress dart deno deptry detekt direnv djlint
  dmypy doas docker docker-compose dotenv dotnet dprint dune earthly ed elixir elm emacs erb erl esbuild eslint eval
  ex expect fastlane fd fish flake8 flock flutter fvm gcc gdb gem gh gh-copilot git gitleaks gitlint gmake go
  goimports golangci-lint gradle gradlew grunt guile gulp hatch helm hg hlint husky inv invoke irb isort jest jj jscs
  jshint jsonnet julia just karma knex ktlint kubectl lake lefthook lerna less lint-staged lldb ltrace lua luacheck
  luajit luarocks m4 make man markdownlint markdownlint-cli2 maturin meson mill mint mise mix mksh mocha more msbuild
  mvn mypy nano nerdctl ng ninja nix nmake nodemon nose2 nox npm npx nu nvim nx ocaml osascript oxlint parallel
  parcel pdm perf perlcritic perltidy php php-cs-fixer phpcbf phpcs phpstan phpunit pint pip pip3 pipenv pipx pkgx
  playwright pnpm pod podman poetry pre-commit prettier prlimit proot pry psalm psql puppet pwsh pylama pylint pypy
  pypy3 pyre pyright pytest pytype R rails rake rbash rebar3 rector reek refurb rescript rg rollup rome
  Rscript rspec rsync rubocop ruff rufo runuser rush rustc rustfmt rustup sam sbt scala scalafmt scons scp screen
  script semgrep serverless setarch setpriv socat solargraph sorbet sqlfluff sqlite3 ssh standard standardrb strace
  stylelint su sudo svelte-check svn swc swift swiftformat swiftlint systemd-run tar task taskset tclsh tcsh
  terraform terragrunt textlint tflint ti tmux tofu tox toybox trunk ts-node ts-standard tsc tsx turbo twistcli typos
  uv uvx vagrant vale valgrind vi view vim vimdiff vite vitest vls volta vue-tsc watch watchexec wget wp wrangler
  xargs xcodebuild xcrun xo xonsh yapf yarn yo zig zip zprint zsh-static zx`.split(/\s+/),
);

/** A file that the command writes before it runs it is not the user's own. */
export function checkWritten(ran: string[], written: string[]): void {
  const found = ran.find((path) => written.some((target) => contains(target, path)));
  if (found !== undefined) throw new Unpinnable(`${found} is written by the command itself`);
}
