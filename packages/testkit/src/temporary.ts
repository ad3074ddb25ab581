// Temporary directories and git repositories; the caller removes them.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface TemporaryDirectory {
  path: string;
  remove(): Promise<void>;
}

export interface TemporaryRepository extends TemporaryDirectory {
  /** Standard output of git in the repository. */
  git(...args: string[]): Promise<string>;
}

export async function temporaryDirectory(files: Record<string, string> = {}): Promise<TemporaryDirectory> {
  // The real path: on some systems the temporary directory is itself a link, and git reports real paths.
  const path = await realpath(await mkdtemp(join(tmpdir(), "agentcli-test-")));
  await writeFiles(path, files);
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** A repository on branch `main` with one commit that holds `files`. */
export async function temporaryRepository(
  files: Record<string, string> = { "README.md": "# Sample\n" },
): Promise<TemporaryRepository> {
  const directory = await temporaryDirectory(files);
  const git = async (...args: string[]) =>
    (await run("git", args, { cwd: directory.path, env: gitEnvironment })).stdout;
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "--message=First commit");
  return { ...directory, git };
}

const run = promisify(execFile);

// The user's own git configuration (signing, hooks, templates) must not reach a test.
const gitEnvironment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
};

async function writeFiles(root: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
