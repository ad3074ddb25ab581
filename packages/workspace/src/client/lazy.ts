// A workspace whose place is opened when first needed; its root and incarnation are known at once.
import type { Workspace } from "@agentcli/protocol";

export interface OpenedWorkspace extends Workspace {
  close(): Promise<void>;
}

/** What was never opened, or could not be, has nothing to release and closes all the same. */
export interface LazyWorkspace extends OpenedWorkspace {
  /** Begins to open, so that the first operation need not wait. A failure is told by that operation. */
  warm(): void;
}

export interface LazyOptions {
  root: string;
  incarnation: string;
  open(): Promise<OpenedWorkspace>;
}

export function lazyWorkspace({ root, incarnation, open }: LazyOptions): LazyWorkspace {
  let opening: Promise<OpenedWorkspace> | undefined;
  let isClosed = false;

  function reach(): Promise<OpenedWorkspace> {
    if (isClosed) return Promise.reject(new Error("The workspace is closed."));
    opening ??= open();
    return opening;
  }

  return {
    root,
    incarnation,
    warm() {
      reach().catch(() => {});
    },
    exec: async (request, onChunk, signal) => (await reach()).exec(request, onChunk, signal),
    read: async (request) => (await reach()).read(request),
    list: async (request) => (await reach()).list(request),
    search: async (request) => (await reach()).search(request),
    edit: async (request) => (await reach()).edit(request),
    status: async () => (await reach()).status(),
    async release(ids) {
      const opened = await opening?.catch(() => undefined);
      await opened?.release(ids);
    },
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}
