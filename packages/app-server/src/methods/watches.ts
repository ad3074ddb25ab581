// What clients watch: changes are sent in batches, and a watch ends with its client.
import { type FSWatcher, watch as watchPath } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Client, invalidRequest } from "../method.ts";

export interface Watches {
  watch(watchId: string, path: string, client: Client): Promise<{ path: string }>;
  unwatch(watchId: string, client: Client): Record<string, never>;
  close(): void;
}

/** Saving a file changes it several times. */
const bunchMs = 50;

export function openWatches(): Watches {
  const watches = new Map<Client, Map<string, Watch>>();

  function ofClient(client: Client): Map<string, Watch> {
    const known = watches.get(client);
    if (known) return known;
    const fresh = new Map<string, Watch>();
    watches.set(client, fresh);
    client.closed.addEventListener("abort", () => forget(client), { once: true });
    return fresh;
  }

  function forget(client: Client): void {
    for (const watch of watches.get(client)?.values() ?? []) watch.end();
    watches.delete(client);
  }

  return {
    async watch(watchId, path, client) {
      const target = await targetOf(path);
      const own = ofClient(client);
      if (own.has(watchId)) throw invalidRequest(`The watch ${watchId} exists already. End it with fs/unwatch.`);
      const notify = (changedPaths: string[]) => client.notify("fs/changed", { watchId, changedPaths });
      own.set(watchId, startWatch(target, notify));
      if (client.closed.aborted) forget(client);
      return { path: target.path };
    },
    unwatch(watchId, client) {
      const own = watches.get(client);
      own?.get(watchId)?.end();
      own?.delete(watchId);
      return {};
    },
    close() {
      for (const client of [...watches.keys()]) forget(client);
    },
  };
}

interface Target {
  /** Without symbolic links. */
  path: string;
  directory: string;
  /** Only this of what is in the directory; a file is replaced more often than it is written to. */
  name: string | null;
}

async function targetOf(path: string): Promise<Target> {
  const real = await realpath(path);
  if ((await stat(real)).isDirectory()) return { path: real, directory: real, name: null };
  return { path: real, directory: dirname(real), name: basename(real) };
}

interface Watch {
  end(): void;
}

function startWatch({ path, directory, name }: Target, notify: (changedPaths: string[]) => void): Watch {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    notify([...changed]);
    changed.clear();
  };
  const watcher: FSWatcher = watchPath(directory, { persistent: false }, (_, changedName) => {
    if (name !== null && changedName !== name) return;
    changed.add(name === null && changedName ? join(path, changedName) : path);
    timer ??= setTimeout(flush, bunchMs);
  });
  const end = () => {
    clearTimeout(timer);
    watcher.close();
  };
  // The watched path is gone, or the system stopped the watch: there is nothing more to report.
  watcher.on("error", end);
  return { end };
}
