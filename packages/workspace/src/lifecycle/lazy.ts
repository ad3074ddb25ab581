// A workspace that is opened when first needed, and again after it was lost; root and incarnation are known at once.
import type { Duplex } from "node:stream";
import type { Workspace } from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";

export interface OpenedWorkspace extends Workspace {
  /** Pauses output: processes block on writes until it resumes. Results may be delayed too. */
  holdOutput(): void;
  resumeOutput(): void;
  /** A connection to a port of its loopback; closed at once if nothing listens there. Absent without a network of its own. */
  dial?(port: number): Duplex;
  /** One sentence for each repository below the workspace that commands have created or changed, once. Absent without a sandbox. */
  findRepositoryChanges?(): Promise<string[]>;
  close(): Promise<void>;
}

/** A workspace that was never opened, or failed to open, releases nothing and closes without error. */
export interface LazyWorkspace extends OpenedWorkspace {
  /** Starts opening, so that the first operation need not wait. A failure is reported by that operation. */
  warm(): void;
  findRepositoryChanges(): Promise<string[]>;
}

export interface LazyWorkspaceOptions {
  root: string;
  /** A new one each time. */
  newIncarnation(): string;
  open(incarnation: string): Promise<OpenedWorkspace>;
}

/** A command may kill the server it runs under; one that does so each time needs a person's attention. */
const maxLosses = 3;

/** Operations running when it is lost fail with WorkspaceLost; later ones open the next workspace. */
export function lazyWorkspace({ root, newIncarnation, open }: LazyWorkspaceOptions): LazyWorkspace {
  let incarnation = newIncarnation();
  let opening: Promise<OpenedWorkspace> | undefined;
  let losses = 0;
  const changesBeforeLoss: string[] = [];
  let isClosed = false;

  function openOnce(): Promise<OpenedWorkspace> {
    if (isClosed) return Promise.reject(new Error("The workspace is closed."));
    if (losses > maxLosses) return Promise.reject(new Error(`The workspace was lost ${losses} times in this run.`));
    opening ??= open(incarnation);
    return opening;
  }

  async function call<Result>(operation: (opened: OpenedWorkspace) => Promise<Result>): Promise<Result> {
    const current = openOnce();
    try {
      return await operation(await current);
    } catch (error) {
      if (error instanceof WorkspaceLost && opening === current) await discard(current);
      throw error;
    }
  }

  /** Called once per loss, by the first operation that notices. */
  async function discard(lost: Promise<OpenedWorkspace>): Promise<void> {
    opening = undefined;
    incarnation = newIncarnation();
    losses += 1;
    const opened = await lost.catch(() => undefined);
    await opened?.close();
    changesBeforeLoss.push(...((await opened?.findRepositoryChanges?.()) ?? []));
  }

  return {
    root,
    get incarnation() {
      return incarnation;
    },
    warm() {
      openOnce().catch(() => {});
    },
    exec: (request, onChunk, signal) => call((opened) => opened.exec(request, onChunk, signal)),
    read: (request) => call((opened) => opened.read(request)),
    list: (request) => call((opened) => opened.list(request)),
    search: (request) => call((opened) => opened.search(request)),
    edit: (request) => call((opened) => opened.edit(request)),
    status: () => call((opened) => opened.status()),
    async release(ids) {
      const opened = await opening?.catch(() => undefined);
      await opened?.release(ids).catch((error: unknown) => {
        // Everything that was to be released is gone with it.
        if (!(error instanceof WorkspaceLost)) throw error;
      });
    },
    holdOutput: () => void opening?.then(({ holdOutput }) => holdOutput()).catch(() => {}),
    resumeOutput: () => void opening?.then(({ resumeOutput }) => resumeOutput()).catch(() => {}),
    async findRepositoryChanges() {
      const opened = await opening?.catch(() => undefined);
      return [...changesBeforeLoss.splice(0), ...((await opened?.findRepositoryChanges?.()) ?? [])];
    },
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}
