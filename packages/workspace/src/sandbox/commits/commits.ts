// Git in a workspace whose repository is protected: commands work on a shadow of it, and after each of them the host
// imports what is safe. No command is parsed, and running something else there gains nothing.

import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import type { SandboxPolicy } from "../policy.ts";
import { openHostGit } from "./host-git.ts";
import { type Note, openNotes } from "./notes.ts";
import type { Shadow } from "./shadow.ts";
import { type OpenedShadow, openShadow } from "./synchronize.ts";

export interface CommitOptions {
  policy: SandboxPolicy;
  /** PATH of the host. */
  path: string;
  shadows: Shadow[];
}

/** Git inside the sandbox cannot read the repository. */
export class ShadowUnavailable extends Error {
  override name = "ShadowUnavailable";
}

/** A commit that could not be imported at the end of a turn. */
export class CommitLost extends Error {
  override name = "CommitLost";
}

export async function withCommits(workspace: OpenedWorkspace, options: CommitOptions): Promise<OpenedWorkspace> {
  const shadows = await openShadows(workspace, options);
  if (shadows.length === 0) return workspace;
  const notes = openNotes();
  const awaited = new Set<string>();
  const starting = new Map<string, Promise<void>>();
  // One at a time: the second starts from the result of the first.
  let last: Promise<void> = Promise.resolve();

  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const run = last.then(step);
    last = run.catch(() => {});
    return run;
  };
  const importAll = () => inTurn(async () => notes.add(await importShadows(shadows)));

  const synchronizeAll = () => inTurn(async () => notes.add(await synchronizeShadows(shadows)));

  /** A process that outlasts its call is waited for, so that its commits are imported when it ends. */
  function importAtEnd(id: string): void {
    if (awaited.has(id)) return;
    awaited.add(id);
    const ended = workspace.exec({ id, afterSeq: Number.MAX_SAFE_INTEGER }, () => {}, new AbortController().signal);
    void ended
      .then(importAll)
      .catch(() => {})
      .finally(() => awaited.delete(id));
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      // Input that follows a start at once must not overtake it.
      if (request.start !== undefined) starting.set(request.id, synchronizeAll());
      await starting.get(request.id);
      const seen = await workspace.exec(request, onChunk, signal);
      if (seen.state === "running") importAtEnd(request.id);
      await importAll();
      const { result, note } = notes.addTo(request.id, seen);
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      notes.forget(ids);
      for (const id of ids.length === 0 ? [...starting.keys()] : ids) starting.delete(id);
      await importAll();
      const failures = ids.length > 0 ? [] : notes.takeFailures();
      if (failures.length > 0) throw new CommitLost(failures.join(" "));
    },
  };
}

async function synchronizeShadows(shadows: OpenedShadow[]): Promise<Note[]> {
  const notes = shadows.map(async (shadow): Promise<Note[]> => {
    try {
      await shadow.synchronizeIfChanged();
      return [];
    } catch (error) {
      const text = `The repository has changed outside the sandbox: ${(error as Error).message}`;
      return [{ text, isFailure: true }];
    }
  });
  return (await Promise.all(notes)).flat();
}

async function importShadows(shadows: OpenedShadow[]): Promise<Note[]> {
  const notes = await Promise.all(shadows.map(importShadow));
  return notes.flat();
}

async function importShadow(shadow: OpenedShadow): Promise<Note[]> {
  try {
    return (await shadow.importChanges()).map((text) => ({ text, isFailure: false }));
  } catch (error) {
    const text = `The commit could not be imported into the repository: ${(error as Error).message}`;
    return [{ text, isFailure: true }];
  }
}

async function openShadows(
  workspace: OpenedWorkspace,
  { policy, path, shadows }: CommitOptions,
): Promise<OpenedShadow[]> {
  const untrusted = [policy.root, ...policy.writableRoots];
  const opened = shadows.map(async (shadow) => {
    const git = openHostGit({ path, untrusted, gitDirectory: shadow.gitDirectory });
    return openShadow({ shadow, git, workspace, policy });
  });
  return Promise.all(opened).catch((error: Error) => {
    throw new ShadowUnavailable(error.message);
  });
}
