// Commits although the sandbox cannot write .git: git runs inside on a private repository, and the host imports the
// result. Running something else there gains nothing: only commits are imported.

import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import type { Chunk, ExecRequest, ExecResult } from "@agentcli/protocol";
import { addNote } from "../../client/index.ts";
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import { giveFiles } from "../ownership.ts";
import type { SandboxPolicy } from "../policy.ts";
import { type CommitCommand, readCommitCommand } from "./command.ts";
import { type ConfigEntry, readConfigList } from "./config.ts";
import { type HostGit, openHostGit } from "./host-git.ts";
import { type CommitRepository, findCommitRepository } from "./repository.ts";
import { commitStart, exportStart } from "./scripts.ts";

type Start = NonNullable<ExecRequest["start"]>;

/** How a commit ended, with a note if it could not be imported. */
interface CommitResult {
  result: ExecResult;
  note?: Chunk;
}

export interface CommitOptions {
  policy: SandboxPolicy;
  /** PATH of the host. */
  path: string;
}

export function withCommits(workspace: OpenedWorkspace, options: CommitOptions): OpenedWorkspace {
  const commits = new Map<string, Promise<CommitResult>>();
  // One at a time: the second starts from the result of the first.
  let last: Promise<unknown> = Promise.resolve();

  /** Settles when the process has been started, so that it can be followed. */
  function begin(id: string, command: CommitCommand, start: Start): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = last.then(async () => {
        const commit = await prepareCommit(command, start, options);
        const running = workspace.exec({ id, start: commit?.start ?? start }, () => {}, never());
        resolve();
        return settle(await running, commit);
      });
      settled.catch(reject);
      commits.set(id, settled);
      last = settled.catch(() => {});
    });
  }

  async function settle(result: ExecResult, commit: PreparedCommit | undefined): Promise<CommitResult> {
    if (commit === undefined || result.state !== "exited") return { result };
    try {
      const leftOut = await commit.importFrom(await exportCommit(workspace, commit.scratch));
      return leftOut === undefined ? { result } : addNote(result, `${leftOut}\n`);
    } catch (error) {
      const text = `The commit could not be imported into the repository: ${(error as Error).message}\n`;
      return addNote({ ...result, exitCode: result.exitCode || 1 }, text);
    }
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const { id, start } = request;
      const command = start && !commits.has(id) && !signal.aborted ? recognise(start, options) : undefined;
      if (start && command) await begin(id, command, start);
      const commit = commits.get(id);
      if (commit === undefined) return workspace.exec(request, onChunk, signal);
      const seen = await workspace.exec({ ...request, start: undefined }, onChunk, signal);
      if (seen.state !== "exited") return seen;
      const { result, note } = await commit;
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      for (const id of ids.length === 0 ? [...commits.keys()] : ids) commits.delete(id);
    },
  };
}

function recognise(start: Start, options: CommitOptions): CommitCommand | undefined {
  const command = readCommitCommand(start.argv);
  return command && repositoryOf(command, start, options) && command;
}

interface PreparedCommit {
  start: Start;
  /** The directory in the sandbox with its result. */
  scratch: string;
  /** Resolves to a sentence about what was left out. */
  importFrom(output: string): Promise<string | undefined>;
}

/** Undefined if the command must run unchanged. */
async function prepareCommit(
  command: CommitCommand,
  start: Start,
  options: CommitOptions,
): Promise<PreparedCommit | undefined> {
  const repository = repositoryOf(command, start, options);
  const { policy, path } = options;
  const untrusted = [policy.root, ...policy.writableRoots];
  const git = repository && openHostGit({ path, untrusted, gitDirectory: repository.gitDirectory });
  if (!git) return undefined;
  const scratch = `/tmp/.agent-commit-${randomUUID()}`;
  return {
    scratch,
    start: commitStart(start, { repository, scratch, config: await readConfig(repository, git) }),
    async importFrom(output) {
      const { readCommitExport } = await import("./export.ts");
      const { importCommit } = await import("./import.ts");
      const exported = readCommitExport(output);
      if (exported === undefined) return undefined;
      const newGitlinks = policy.nestedRepositories === "allowed" ? "allowed" : "refused";
      try {
        return await importCommit(exported, { git, repository, amends: command.amends, newGitlinks });
      } finally {
        if (policy.userId !== null) await giveFiles(repository.gitDirectory, policy.userId);
      }
    },
  };
}

const repositoryOf = ({ directories }: CommitCommand, { cwd = "." }: Start, { policy }: CommitOptions) =>
  findCommitRepository(
    directories.map((directory) => resolve(policy.root, cwd, directory)),
    policy,
  );

async function readConfig({ commonDirectory }: CommitRepository, git: HostGit): Promise<ConfigEntry[]> {
  const file = join(commonDirectory, "config");
  return readConfigList(await git.run(["config", "--file", file, "--no-includes", "--list", "-z"]));
}

/** Node strings cannot be much longer. */
const maxExportCharacters = 400 * 1024 * 1024;

/** Reads the result from the sandbox and cleans up there. */
async function exportCommit(workspace: OpenedWorkspace, scratch: string): Promise<string> {
  const id = `export-${scratch}`;
  const parts: string[] = [];
  const tooMuch = new AbortController();
  let size = 0;
  const ended = await workspace.exec(
    { id, start: exportStart(scratch) },
    ({ stream, text }) => {
      size += text.length;
      if (size > maxExportCharacters) tooMuch.abort();
      else if (stream === "stdout") parts.push(text);
    },
    tooMuch.signal,
  );
  await workspace.release([id]);
  if (tooMuch.signal.aborted) throw new Error("it is larger than 300 MB. Commit large files outside the sandbox.");
  if (ended.state !== "exited" || ended.exitCode !== 0) throw new Error("the sandbox did not export it.");
  return parts.join("");
}

const never = () => new AbortController().signal;
