// Commits work though the sandbox cannot write .git: git runs inside on a private repository, and the host takes over
// what came of it. Whoever runs something else in there has gained nothing: only commits come out.
import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import type { Chunk, ExecRequest, ExecResult } from "@agentcli/protocol";
import type { OpenedWorkspace } from "../client/lazy.ts";
import { addNote } from "../client/note.ts";
import { type CommitCommand, readCommitCommand } from "./git-commit-command.ts";
import { type ConfigEntry, readConfigList } from "./git-commit-config.ts";
import { type CommitRepository, findCommitRepository } from "./git-commit-repository.ts";
import { commitStart, handOverStart } from "./git-commit-scripts.ts";
import { type HostGit, openHostGit } from "./host-git.ts";
import type { SandboxPolicy } from "./policy.ts";

type Start = NonNullable<ExecRequest["start"]>;

/** How a commit ended, with a line of ours when it could not be taken over. */
interface Settled {
  result: ExecResult;
  note?: Chunk;
}

export interface CommitOptions {
  policy: SandboxPolicy;
  /** Where programs of the host are looked for. */
  path: string;
}

export function withCommits(workspace: OpenedWorkspace, options: CommitOptions): OpenedWorkspace {
  const commits = new Map<string, Promise<Settled>>();
  // One at a time: the second begins with what the first has left.
  let last: Promise<unknown> = Promise.resolve();

  /** Settles when the process has been asked for, so that it can be followed. */
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

  async function settle(result: ExecResult, commit: Commit | undefined): Promise<Settled> {
    if (commit === undefined || result.state !== "exited") return { result };
    try {
      await commit.takeOver(await handOver(workspace, commit.scratch));
      return { result };
    } catch (error) {
      const text = `The commit could not be taken over into the repository: ${(error as Error).message}\n`;
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

interface Commit {
  start: Start;
  /** Where in the sandbox its outcome lies. */
  scratch: string;
  takeOver(output: string): Promise<void>;
}

/** Undefined where the command can only run as it is. */
async function prepareCommit(
  command: CommitCommand,
  start: Start,
  options: CommitOptions,
): Promise<Commit | undefined> {
  const repository = repositoryOf(command, start, options);
  const { policy, path } = options;
  const untrusted = [policy.root, ...policy.writableRoots];
  const git = repository && openHostGit({ path, untrusted, gitDirectory: repository.gitDirectory });
  if (!git) return undefined;
  const scratch = `/tmp/.agent-commit-${randomUUID()}`;
  return {
    scratch,
    start: commitStart(start, { repository, scratch, config: await readConfig(repository, git) }),
    async takeOver(output) {
      const { readOffer } = await import("./git-commit-offer.ts");
      const { acceptOffer } = await import("./git-commit-accept.ts");
      const offer = readOffer(output);
      if (offer !== undefined) await acceptOffer(offer, { git, repository, amends: command.amends });
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

/** As text, of which there cannot be much more than this in one piece. */
const mostHandedOver = 400 * 1024 * 1024;

/** Everything the sandbox hands over; it is cleaned up there. */
async function handOver(workspace: OpenedWorkspace, scratch: string): Promise<string> {
  const id = `hand-over-${scratch}`;
  const parts: string[] = [];
  const tooMuch = new AbortController();
  let size = 0;
  const ended = await workspace.exec(
    { id, start: handOverStart(scratch) },
    ({ stream, text }) => {
      size += text.length;
      if (size > mostHandedOver) tooMuch.abort();
      else if (stream === "stdout") parts.push(text);
    },
    tooMuch.signal,
  );
  await workspace.release([id]);
  if (tooMuch.signal.aborted) throw new Error("it is larger than 300 MB. Commit large files outside the sandbox.");
  if (ended.state !== "exited" || ended.exitCode !== 0) throw new Error("the sandbox did not hand it over.");
  return parts.join("");
}

const never = () => new AbortController().signal;
