// A workspace whose place is opened when first needed, and again after it was lost; root and incarnation are known at once.
import type { Workspace } from "@agentcli/protocol";
import { WorkspaceLost } from "./workspace-lost.ts";

export interface OpenedWorkspace extends Workspace {
  /** Processes block instead of writing on, until output may flow again; meanwhile answers may wait too. */
  holdOutput(): void;
  resumeOutput(): void;
  close(): Promise<void>;
}

/** What was never opened, or could not be, has nothing to release and closes all the same. */
export interface LazyWorkspace extends OpenedWorkspace {
  /** Begins to open, so that the first operation need not wait. A failure is told by that operation. */
  warm(): void;
}

export interface LazyOptions {
  root: string;
  /** A new one each time. */
  newIncarnation(): string;
  open(incarnation: string): Promise<OpenedWorkspace>;
}

/** A command may end the server it runs under; one that does so each time has to be looked at by a person. */
const mostLosses = 3;

/** Whoever was at work when it was lost is told so; who comes after that works in the next one. */
export function lazyWorkspace({ root, newIncarnation, open }: LazyOptions): LazyWorkspace {
  let incarnation = newIncarnation();
  let opening: Promise<OpenedWorkspace> | undefined;
  let losses = 0;
  let isClosed = false;

  function reach(): Promise<OpenedWorkspace> {
    if (isClosed) return Promise.reject(new Error("The workspace is closed."));
    if (losses > mostLosses) return Promise.reject(new Error(`The workspace was lost ${losses} times in this run.`));
    opening ??= open(incarnation);
    return opening;
  }

  async function ask<Result>(operation: (opened: OpenedWorkspace) => Promise<Result>): Promise<Result> {
    const asked = reach();
    try {
      return await operation(await asked);
    } catch (error) {
      if (error instanceof WorkspaceLost && opening === asked) await leave(asked);
      throw error;
    }
  }

  /** Once, by the first who notices. */
  async function leave(lost: Promise<OpenedWorkspace>): Promise<void> {
    opening = undefined;
    incarnation = newIncarnation();
    losses += 1;
    const opened = await lost.catch(() => undefined);
    await opened?.close();
  }

  return {
    root,
    get incarnation() {
      return incarnation;
    },
    warm() {
      reach().catch(() => {});
    },
    exec: (request, onChunk, signal) => ask((opened) => opened.exec(request, onChunk, signal)),
    read: (request) => ask((opened) => opened.read(request)),
    list: (request) => ask((opened) => opened.list(request)),
    search: (request) => ask((opened) => opened.search(request)),
    edit: (request) => ask((opened) => opened.edit(request)),
    status: () => ask((opened) => opened.status()),
    async release(ids) {
      const opened = await opening?.catch(() => undefined);
      await opened?.release(ids).catch((error: unknown) => {
        // With it went whatever was to be released.
        if (!(error instanceof WorkspaceLost)) throw error;
      });
    },
    holdOutput: () => void opening?.then(({ holdOutput }) => holdOutput()).catch(() => {}),
    resumeOutput: () => void opening?.then(({ resumeOutput }) => resumeOutput()).catch(() => {}),
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}
