// `--worktree`: a fresh git working tree for one run, kept only when there is something in it.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import { type Environment, makePrivateDirectory, takeLock } from "@agentcli/host";
import { git as runGit } from "@agentcli/host/git";
import type { WorktreeOrigin } from "@agentcli/protocol";
import { findCommonDirectory, findGitDirectory, findRepositoryRoot } from "@agentcli/workspace";

export interface Worktree {
  origin: WorktreeOrigin;
  /** Where to work: the directory in it that answers to the one the run was started in. */
  cwd: string;
  /** Removes it where nothing was changed; says what became of it. Never loses work: where in doubt, it stays. */
  settle(): Promise<void>;
}

export interface WorktreeOptions {
  directory: string;
  threadId: string;
  environment: Environment;
  log(line: string): void;
}

export async function openWorktree({ directory, threadId, environment, log }: WorktreeOptions): Promise<Worktree> {
  const startedIn = realDirectory(directory, environment.cwd);
  const repository = findRepositoryRoot(startedIn);
  if (!repository) throw new CommandError("usage", `--worktree needs a git repository, and ${startedIn} is in none.`);
  const git = gitIn(repository, environment);
  const shortId = threadId.slice(-8);
  const path = join(openParent(environment), `${basename(repository)}-${shortId}`);
  const origin = { path, startedIn, branch: `agentcli/${shortId}`, base: await headOf(git, repository) };
  await oneAtATime(git, repository, async () => {
    await git(...adding, "--no-track", "-b", origin.branch, path, origin.base);
    await checkOut(path, environment).catch(async (error: unknown) => {
      await remove(origin, git);
      throw error;
    });
  });
  log(`Working in a new worktree: ${path} (branch ${origin.branch})`);
  return worktree(origin, repository, { environment, log });
}

const adding = ["worktree", "add", "--quiet", "--no-checkout"];

/** By itself: settings that only apply in the new worktree may name programs too, and git reads them there. */
const checkOut = (path: string, environment: Environment): Promise<string> =>
  gitIn(path, environment)("reset", "--hard", "--quiet");

/** Without symbolic links. */
function openParent({ agentHome }: Environment): string {
  const parent = join(agentHome, "worktrees");
  makePrivateDirectory(parent);
  return realpathSync(parent);
}

/**
 * For a thread that had one: reused if it still exists, otherwise created again from its starting commit, where worktrees
 * are now: the agent home may have moved.
 */
export async function reopenWorktree(
  recorded: WorktreeOrigin,
  { environment, log }: Pick<WorktreeOptions, "environment" | "log">,
): Promise<Worktree> {
  const isGone = !existsSync(recorded.path) && resolve(recorded.path) === recorded.path;
  const origin = isGone ? { ...recorded, path: join(openParent(environment), basename(recorded.path)) } : recorded;
  checkOrigin(origin, environment);
  const repository = findRepositoryRoot(origin.startedIn);
  if (!repository)
    throw new CommandError(
      "usage",
      `${origin.startedIn}, where this session was started, is in no git repository any more. Restore the repository, or start a new session.`,
    );
  if (!existsSync(origin.path)) {
    const git = gitIn(repository, environment);
    await oneAtATime(git, repository, () => addAgain(origin, git, environment));
    log(`Working in the worktree of this session again: ${origin.path} (branch ${origin.branch})`);
  }
  return worktree(origin, repository, { environment, log });
}

/** Git runs there outside the sandbox, and the directory is removed in the end: only for one that `openWorktree` made. */
function checkOrigin({ path, branch, base }: WorktreeOrigin, environment: Environment): void {
  const isOwn = resolve(path) === path && dirname(path) === openParent(environment);
  if (isOwn && /^agentcli\/[0-9a-f]{8}$/.test(branch) && /^[0-9a-f]{40,64}$/.test(base)) return;
  throw new CommandError(
    "usage",
    `The session file says that the session worked in ${path} (branch ${branch}), but --worktree did not create that directory. Name a directory to continue in: --cd DIR.`,
  );
}

async function addAgain({ path, branch, base }: WorktreeOrigin, git: Git, environment: Environment): Promise<void> {
  await git("worktree", "prune");
  const isBranch = await succeeds(git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`));
  const start = isBranch ? [path, branch] : ["--no-track", "-b", branch, path, base];
  await git(...adding, ...start);
  await checkOut(path, environment).catch(async (error: unknown) => {
    await git("worktree", "remove", "--force", path);
    throw error;
  });
}

function worktree(
  origin: WorktreeOrigin,
  repository: string,
  { environment, log }: Pick<WorktreeOptions, "environment" | "log">,
): Worktree {
  const inner = join(origin.path, relative(repository, origin.startedIn));
  return {
    origin,
    cwd: existsSync(inner) ? inner : origin.path,
    async settle() {
      if (!isOf(repository, origin.path))
        return log(`warning: the run replaced the .git of the worktree, which was kept: ${origin.path}. Check it.`);
      try {
        if (await isUntouched(origin, gitIn(origin.path, environment))) {
          const git = gitIn(repository, environment);
          await oneAtATime(git, repository, () => remove(origin, git));
          return log("The worktree is unchanged and was removed.");
        }
      } catch (error) {
        log(`warning: the worktree could not be inspected or removed: ${(error as Error).message}`);
      }
      log(`The worktree has changes and was kept: ${origin.path} (branch ${origin.branch})`);
    },
  };
}

/** Landlock cannot protect the `.git` of the worktree, and git would run what the settings of another repository name. */
function isOf(repository: string, path: string): boolean {
  const own = findGitDirectory(repository);
  const [, named] = /^gitdir: ([^\n]+)\n$/.exec(readPlain(join(path, ".git"))) ?? [];
  if (own === undefined || named === undefined) return false;
  // Relative with `worktree.useRelativePaths`.
  const target = resolve(path, named);
  if (!existsSync(target)) return false;
  const worktrees = join(realpathSync(findCommonDirectory(own)), "worktrees");
  return dirname(target) === worktrees && realpathSync(target) === target;
}

const readPlain = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : "";

async function isUntouched({ path, base, branch }: WorktreeOrigin, git: Git): Promise<boolean> {
  if ((await git("rev-parse", "HEAD")).trim() !== base) return false;
  if ((await git("rev-parse", `refs/heads/${branch}`)).trim() !== base) return false;
  // A look into a submodule would run git there, under a configuration the agent may have written.
  if ((await git("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all")) !== "") return false;
  return (await submodulesOf(git)).every((name) => isEmpty(join(path, name)));
}

async function submodulesOf(git: Git): Promise<string[]> {
  const entries = (await git("ls-files", "--stage", "-z")).split("\0");
  return entries.flatMap((entry) => (entry.startsWith("160000 ") ? entry.slice(entry.indexOf("\t") + 1) : []));
}

const isEmpty = (directory: string): boolean => !existsSync(directory) || readdirSync(directory).length === 0;

/** The reference goes only if it still names the commit it began with. */
async function remove({ path, branch, base }: WorktreeOrigin, git: Git): Promise<void> {
  await git("worktree", "remove", "--force", path);
  await git("update-ref", "-d", `refs/heads/${branch}`, base);
}

const lockTimeoutMs = 60_000;
const lockLookMs = 20;

/** Git reads every working tree when one is added or removed, and fails on one that is half made. */
async function oneAtATime(git: Git, repository: string, change: () => Promise<unknown>): Promise<void> {
  const shared = resolve(repository, (await git("rev-parse", "--git-common-dir")).trim());
  const path = join(shared, "agentcli-worktrees.lock");
  const giveUpAt = Date.now() + lockTimeoutMs;
  let attempt = takeLock(path);
  while (attempt.kind === "busy") {
    if (Date.now() > giveUpAt)
      throw new CommandError("usage", `${path} is in use by process ${attempt.pid}; end it and try again.`);
    await pause(lockLookMs);
    attempt = takeLock(path);
  }
  try {
    await change();
  } finally {
    attempt.lock.release();
  }
}

async function headOf(git: Git, repository: string): Promise<string> {
  try {
    return (await git("rev-parse", "--verify", "HEAD^{commit}")).trim();
  } catch (error) {
    const { message } = error as Error;
    if (!/needed a single revision/i.test(message)) throw error;
    throw new CommandError("usage", `--worktree needs a commit to start from, and ${repository} has none yet.`);
  }
}

function realDirectory(directory: string, base: string): string {
  const path = resolve(base, directory);
  if (!existsSync(path)) throw new CommandError("usage", `The directory ${path} does not exist.`);
  return realpathSync(path);
}

type Git = (...args: string[]) => Promise<string>;

function gitIn(directory: string, environment: Environment): Git {
  return async (...args) => {
    const failure = (reason: string) => new CommandError("usage", `git ${args[0]} failed in ${directory}: ${reason}`);
    const { code, stdout, stderr } = await runGit({ directory, args, environment }).catch((error: Error) => {
      throw failure(error.message);
    });
    if (code !== 0) throw failure(stderr.trim() || `exit code ${code}`);
    return stdout.toString();
  };
}

const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );
