// Runs tests again whenever a file of the project changes, until the program is stopped.
import { type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Program } from "../program.ts";
import { projectFiles } from "./scratch.ts";

/** An editor writes several times for one change. */
const quietMs = 100;

export interface WatchOptions {
  root: string;
  /** A file that the run itself writes. */
  ignored: string | null;
  runTests(): Promise<number>;
}

export async function watchProject({ root, ignored, runTests }: WatchOptions, program: Program): Promise<number> {
  const { signal, print, environment, reporter } = program;
  while (!signal.aborted) {
    // Watched before the run: a change while it lasts is not missed.
    const change = await openWatch(root, { files: await projectFiles(root, environment), ignored });
    try {
      await runTests().catch((error: Error) => reporter.fail(error.message));
      await print(`Waiting for changes in ${root}\n`);
      await change.next(signal);
    } finally {
      change.close();
    }
  }
  return exitCodes.completed.code;
}

async function openWatch(root: string, { files, ignored }: { files: string[]; ignored: string | null }) {
  let onChange = () => {};
  let timer: NodeJS.Timeout | undefined;
  const changed = new Promise<void>((resolve) => {
    onChange = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, quietMs);
    };
  });
  const directories = [...new Set([".", ...files.map((file) => dirname(file))])];
  const watchers = directories.flatMap((directory) =>
    watchDirectory(join(root, directory), (path) => {
      if (path !== ignored) onChange();
    }),
  );
  return {
    next: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
        void changed.then(resolve);
      }),
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** A directory that cannot be watched, or is gone, does not end the program. */
function watchDirectory(directory: string, onChange: (path: string) => void): FSWatcher[] {
  try {
    const watcher = watch(directory, (_, name) => onChange(join(directory, name ?? "")));
    watcher.on("error", () => watcher.close());
    return [watcher];
  } catch {
    return [];
  }
}
