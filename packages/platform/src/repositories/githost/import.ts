// Creates the content of a repository from this machine: another repository, or the files of a plain directory.
import { existsSync, statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ApiError } from "../../foundation/index.ts";
import { askGit, damagedObject, GitFailed, type GitRemote, localFailure, runGit } from "../git/index.ts";

/** The operator names the path, so the repository there is trusted for reading. Returns the default branch. */
export async function importFrom(path: string, directory: string, signal: AbortSignal): Promise<string> {
  const source = resolve(path);
  try {
    return await importContent(source, directory, signal);
  } catch (error) {
    if (!(error instanceof GitFailed) || localFailure.test(error.stderr)) throw error;
    throw new ApiError("validation_error", `${source} was not imported: it ${problemIn(error.stderr)}.`);
  }
}

/** Names the damaged object if git does; otherwise git's own words. */
function problemIn(stderr: string): string {
  const lines = stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.+)/.exec(line)?.[1] ?? []);
  const reason = (lines.join("; ") || "git gave no reason").slice(0, 500).replace(/\.$/, "");
  return damagedObject(stderr) ?? `cannot be read by git: ${reason}. Run git fsck --full there`;
}

async function importContent(source: string, directory: string, signal: AbortSignal): Promise<string> {
  if (!statSync(source, { throwIfNoEntry: false })?.isDirectory())
    throw new ApiError("validation_error", `Directory not found: ${source}.`);
  const isRepository = existsSync(join(source, ".git")) || existsSync(join(source, "HEAD"));
  if (!isRepository) return importFiles(source, directory, signal);
  const remote: GitRemote = { address: source, protocol: "file", config: [], variables: {} };
  const all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", source, ...all];
  await runGit({ location: { directory }, remote, args }, signal);
  return chooseBranch({ source, directory, remote }, signal);
}

async function chooseBranch(
  { source, directory, remote }: { source: string; directory: string; remote: GitRemote },
  signal: AbortSignal,
): Promise<string> {
  const branches = await branchesIn(directory, signal);
  const head = await runGit(
    { location: { directory }, remote, args: ["ls-remote", "--symref", "--", source, "HEAD"] },
    signal,
  );
  if (branches.length === 0 && /^[0-9a-f]{40}/m.test(head))
    throw new ApiError(
      "validation_error",
      `${source} is a shallow clone, so nothing was imported. Run git fetch --unshallow there first.`,
    );
  const defaultBranch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(head)?.[1] ?? "main";
  const branch = branches.includes(defaultBranch) ? defaultBranch : (branches[0] ?? defaultBranch);
  await pointHead(directory, branch);
  return branch;
}

export async function branchesIn(directory: string, signal?: AbortSignal): Promise<string[]> {
  const args = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
  return (await runGit({ location: { directory }, args }, signal)).split("\n").filter(Boolean);
}

export const pointHead = (directory: string, branch: string): Promise<void> =>
  writeFile(join(directory, "HEAD"), `ref: refs/heads/${branch}\n`);

const firstCommit = {
  GIT_AUTHOR_NAME: "Platform",
  GIT_AUTHOR_EMAIL: "platform@platform.invalid",
  GIT_COMMITTER_NAME: "Platform",
  GIT_COMMITTER_EMAIL: "platform@platform.invalid",
};

/** One commit with all files that git does not ignore. */
async function importFiles(source: string, directory: string, signal: AbortSignal): Promise<string> {
  const indexFile = join(directory, "import.index");
  const location = { directory, workTree: source, indexFile };
  // A bare repository cannot have a work tree.
  const variables = { GIT_CONFIG_PARAMETERS: "'core.bare'='false'" };
  const listCall = { location, variables, args: ["ls-files", "-z", "--others", "--exclude-standard"] };
  // Names are raw bytes, not necessarily text. An entry that ends with a slash is a nested repository.
  const paths = (await askGit(listCall, signal)).out.toString("latin1").split("\0");
  const files = paths.filter((path) => path !== "" && !path.endsWith("/")).map((path) => `${path}\0`);
  const input = Buffer.from(files.join(""), "latin1");
  await runGit({ location, variables, args: ["update-index", "-z", "--add", "--stdin"], input }, signal);
  const tree = (await runGit({ location, variables, args: ["write-tree"] }, signal)).trim();
  const args = ["commit-tree", tree, "-m", "First commit"];
  const commit = (await runGit({ location: { directory }, args, variables: firstCommit }, signal)).trim();
  await runGit({ location: { directory }, args: ["update-ref", "refs/heads/main", commit] }, signal);
  await rm(indexFile, { force: true });
  return "main";
}
