// Git in a workspace whose repository is protected: commands work on a shadow of it, and after each of them the host
// imports what is safe. No command is parsed, and running something else there gains nothing.

import { relative } from "node:path";
import type { ExecResult } from "@agentcli/protocol";
import { CommitLost } from "@agentcli/protocol/workspace-errors";
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import type { SandboxPolicy } from "../policy.ts";
import type { ConfiguredPath } from "../repositories/configured.ts";
import { openHostGit } from "./host-git.ts";
import { type Note, openNotes } from "./notes.ts";
import type { Shadow } from "./shadow.ts";
import { ShadowUnavailable } from "./shadow-unavailable.ts";
import { type OpenedShadow, openShadow, type ShadowStates } from "./synchronize.ts";

export interface CommitOptions {
  policy: SandboxPolicy;
  /** PATH of the host. */
  path: string;
  shadows: Shadow[];
  /** What settings of the repositories name. */
  configured: ConfiguredPath[];
}

export async function withCommits(workspace: OpenedWorkspace, options: CommitOptions): Promise<OpenedWorkspace> {
  const shadows = await openShadows(workspace, options);
  if (shadows.length === 0) return workspace;
  const notes = openNotes();
  const awaited = new Set<string>();
  const overlap = trackOverlap();
  const starting = new Map<string, Promise<void>>();
  // One at a time: the second starts from the result of the first.
  let last: Promise<void> = Promise.resolve();

  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const run = last.then(step);
    last = run.catch(() => {});
    return run;
  };
  const importAll = (states?: ShadowStates) => inTurn(async () => notes.add(await importShadows(shadows, states)));

  const synchronizeAll = () => inTurn(async () => notes.add(await synchronizeShadows(shadows)));

  /** A process that outlasts its call is waited for, so that its commits are imported when it ends. */
  function importAtEnd(id: string): void {
    if (awaited.has(id)) return;
    awaited.add(id);
    const ended = workspace.exec({ id, afterSeq: Number.MAX_SAFE_INTEGER }, () => {}, new AbortController().signal);
    void ended
      .then(() => importAll())
      .catch(() => {})
      .finally(() => awaited.delete(id));
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const isAlone = overlap.begin();
      // Input that follows a start at once must not overtake it.
      if (request.start !== undefined) starting.set(request.id, synchronizeAll());
      const executed = Promise.resolve(starting.get(request.id)).then(() => workspace.exec(request, onChunk, signal));
      const { states, seen } = withoutStates(await executed.finally(overlap.end));
      if (seen.state === "running") importAtEnd(request.id);
      // Otherwise what came with the result may be older than the last import.
      await importAll(isAlone() && awaited.size === 0 ? states : undefined);
      const { result, note } = notes.addTo(request.id, seen);
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      overlap.interrupt();
      await workspace.release(ids);
      notes.forget(ids);
      for (const id of ids.length === 0 ? [...starting.keys()] : ids) starting.delete(id);
      await importAll();
      const failures = ids.length > 0 ? [] : notes.takeFailures();
      if (failures.length > 0) throw new CommitLost(failures.join(" "));
    },
    async findRepositoryChanges() {
      return [...notes.takeWarnings(), ...((await workspace.findRepositoryChanges?.()) ?? [])];
    },
  };
}

interface Overlap {
  /** Returns whether the command has been alone until now. */
  begin(): () => boolean;
  end(): void;
  /** Something else than a command: those that run are no longer alone. */
  interrupt(): void;
}

/** Which commands ran at the same time as others. */
function trackOverlap(): Overlap {
  let [running, begun] = [0, 0];
  return {
    begin() {
      const [others, before] = [running, begun];
      running += 1;
      begun += 1;
      return () => others === 0 && begun === before + 1;
    },
    end() {
      running -= 1;
    },
    interrupt() {
      begun += 1;
    },
  };
}

/** They are for the host alone. */
function withoutStates(result: ExecResult): { seen: ExecResult; states: ShadowStates } {
  if (result.state !== "exited" && result.state !== "running") return { seen: result, states: undefined };
  const { repositories, ...seen } = result;
  return { seen, states: repositories };
}

async function synchronizeShadows(shadows: OpenedShadow[]): Promise<Note[]> {
  const notes = shadows.map(async (shadow): Promise<Note[]> => {
    try {
      const { warnings } = await shadow.synchronizeIfChanged();
      return warnings.map((text) => ({ kind: "warning", text }));
    } catch (error) {
      const text = `The repository has changed outside the sandbox: ${(error as Error).message}`;
      return [{ kind: "failure", text }];
    }
  });
  return (await Promise.all(notes)).flat();
}

async function importShadows(shadows: OpenedShadow[], states: ShadowStates): Promise<Note[]> {
  const notes = await Promise.all(shadows.map((shadow) => importShadow(shadow, states)));
  return notes.flat();
}

async function importShadow(shadow: OpenedShadow, states: ShadowStates): Promise<Note[]> {
  try {
    const { notes, warnings } = await shadow.importChanges(states);
    const plain = notes.map((text): Note => ({ kind: "note", text }));
    return [...plain, ...warnings.map((text): Note => ({ kind: "warning", text }))];
  } catch (error) {
    const text = `Changes in .git could not be imported into the repository: ${(error as Error).message}`;
    return [{ kind: "failure", text }];
  }
}

async function openShadows(
  workspace: OpenedWorkspace,
  { policy, path, shadows, configured }: CommitOptions,
): Promise<OpenedShadow[]> {
  const untrusted = [policy.root, ...policy.writableRoots];
  const opened = shadows.map(async (shadow) => {
    const git = openHostGit({ path, untrusted, gitDirectory: shadow.gitDirectory });
    const programs = configured.filter(({ tree }) => tree === shadow.root);
    return openShadow({
      ...{ shadow, git, workspace, policy },
      programs: programs.map((program) => relative(program.tree, program.path)),
    });
  });
  return Promise.all(opened).catch((error: Error) => {
    throw new ShadowUnavailable(error.message);
  });
}
