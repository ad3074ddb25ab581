// What a build is made from: the configuration, the commits, and the files on which the result depends. The same key means the
// same result, so that a recurring build can be skipped.
import { createHash } from "node:crypto";
import { buildPaths, findProjectCopies } from "@agentcli/project/environment";
import { type EnvironmentFile, environmentFilePath } from "@agentcli/protocol/environment-file";
import type { CommitFile, CommitFiles, Repositories } from "../../repositories/index.ts";
import { digestOf, EnvironmentFault, readRepositoryFile } from "../config.ts";
import { dockerfileOf } from "./dockerfile.ts";
import type { BuildContent, BuildOverrides } from "./store.ts";

export interface ContentRequest {
  teamId: number;
  repos: { url: string }[];
  /** The configuration that was saved. */
  saved: EnvironmentFile;
  overrides: BuildOverrides;
}

export interface PreparedContent extends BuildContent {
  config: EnvironmentFile;
  repositories: { url: string; name: string; files: CommitFiles }[];
}

export type ContentReader = Pick<Repositories, "commits" | "sources" | "namesOf">;

/** Throws RepositoryFault, and EnvironmentFault for a file that is not valid. */
export async function readContent(
  { teamId, repos, saved, overrides }: ContentRequest,
  { commits, sources, namesOf }: ContentReader,
  signal: AbortSignal,
): Promise<PreparedContent> {
  const names = namesOf(repos);
  const repositories: PreparedContent["repositories"] = [];
  for (const [index, { url }] of repos.entries())
    repositories.push({
      url,
      name: names[index] ?? "",
      files: await commits.openDefaultBranch({ teamId, url }, signal),
    });
  const found = await findRepositoryFile(repositories, sources.shown, signal);
  const config = { ...(found?.config ?? saved), ...withoutAbsent(overrides) };
  const dockerfile = await readDockerfile(config, repositories, signal);
  const listed = repositories.map(async ({ url, files }) => ({
    name: sources.canonical(url),
    files: await files.list(signal),
  }));
  const contentKey = contentKeyOf(await Promise.all(listed), { config, dockerfile });
  return {
    config,
    repositories,
    repoFile: found && { url: found.url, path: environmentFilePath },
    contentKey,
    configDigest: digestOf(config),
    commits: repositories.map(({ url, files }) => ({ repoUrl: sources.shown(url), commit: files.commit })),
  };
}

/** Changes with the rules below: builds of an older version are made again. */
const format = 2;

export interface ListedCommit {
  /** The same for all addresses of a repository. */
  name: string;
  files: CommitFile[];
}

/** Of commits, in any order, with the configuration that counts for them. */
export function contentKeyOf(commits: ListedCommit[], rules: DependencyRules): string {
  const key = createHash("sha256").update(JSON.stringify([format, digestOf(rules.config)]));
  for (const { name, files } of commits.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const relevant = files.filter(({ path }) => isDependency(path, rules));
    key.update(JSON.stringify([name, relevant.map(({ path, object }) => [path, object])]));
  }
  return key.digest("hex");
}

const withoutAbsent = ({ install, start }: BuildOverrides): Pick<EnvironmentFile, "install" | "start"> => ({
  ...(install !== undefined && { install }),
  ...(start !== undefined && { start }),
});

async function findRepositoryFile(
  repositories: PreparedContent["repositories"],
  shown: (url: string) => string,
  signal: AbortSignal,
): Promise<{ url: string; config: EnvironmentFile } | null> {
  for (const { url, files } of repositories) {
    const text = await files.read(environmentFilePath, signal);
    if (text === null) continue;
    const config = await readRepositoryFile(text, shown(url));
    if (config instanceof EnvironmentFault) throw config;
    return { url, config };
  }
  return null;
}

/** Of the first repository, whose `.platform` the paths are relative to. Empty without one. */
async function readDockerfile(
  { build }: EnvironmentFile,
  [first]: PreparedContent["repositories"],
  signal: AbortSignal,
): Promise<string> {
  const text = await dockerfileOf({ build }, async (path) => (first ? first.files.read(path, signal) : null));
  if (build === undefined) return "";
  const paths = buildPaths(build);
  if (text === null) throw new EnvironmentFault([missing(paths.dockerfile)]);
  const copies = findProjectCopies(text, paths);
  if (copies.length > 0) throw new EnvironmentFault(copies);
  return text;
}

const missing = (path: string) => ({
  file: environmentFilePath,
  line: 1,
  column: 1,
  member: "build.dockerfile",
  reason: `the repository has no file ${path}`,
});

/** Files that package managers and version managers read. */
const dependencyNames =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(?:lock|workspace)\.yaml|bun\.lockb?|deno\.(?:jsonc?|lock)|\.npmrc|\.yarnrc(?:\.yml)?|\.nvmrc|\.node-version|\.tool-versions|mise\.toml|\.mise\.toml|pyproject\.toml|poetry\.lock|uv\.lock|pdm\.lock|Pipfile(?:\.lock)?|setup\.(?:py|cfg)|(?:dev-|test-)?(?:requirements|constraints)[\w.-]*\.(?:txt|in)|\.python-version|environment\.ya?ml|go\.(?:mod|sum|work|work\.sum)|Cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?|Gemfile(?:\.lock)?|[\w-]+\.gemspec|\.ruby-version|composer\.(?:json|lock)|pom\.xml|(?:build|settings)\.gradle(?:\.kts)?|gradle(?:-wrapper)?\.properties|libs\.versions\.toml|[\w.-]+\.(?:csproj|fsproj|sln)|packages\.lock\.json|global\.json|mix\.(?:exs|lock)|Package\.(?:swift|resolved)|pubspec\.(?:yaml|lock)|Podfile(?:\.lock)?|flake\.(?:nix|lock)|shell\.nix|vcpkg\.json|conanfile\.(?:txt|py)|CMakeLists\.txt)$/;

export interface DependencyRules {
  config: EnvironmentFile;
  dockerfile: string;
}

export function isDependency(path: string, { config, dockerfile }: DependencyRules): boolean {
  if (path === environmentFilePath || dependencyNames.test(path.split("/").at(-1) ?? "")) return true;
  if (config.build !== undefined && isOfImage(path, config.build)) return true;
  return isNamed(path, `${config.install ?? ""}\n${dockerfile}`);
}

/** The Dockerfile, and all of a context that is not the whole repository. */
function isOfImage(path: string, build: NonNullable<EnvironmentFile["build"]>): boolean {
  const paths = buildPaths(build);
  return path === paths.dockerfile || (paths.context !== "" && path.startsWith(`${paths.context}/`));
}

/** A command names the file, or a folder above it: `scripts/setup.sh`, `COPY vendor /tmp`. */
function isNamed(path: string, commands: string): boolean {
  const words = commands.split(/[\s"'`=;&|()<>,[\]]+/).map((word) => word.replace(/^\.\//, "").replace(/\/+$/, ""));
  return words.some(
    (word) => /^[\w.@][^*]*$/.test(word) && word !== "." && (path === word || path.startsWith(`${word}/`)),
  );
}
