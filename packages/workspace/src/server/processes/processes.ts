// The processes of one workspace, by caller-chosen ids: start, re-attach, feed, wait, release.
import type { Chunk, ExecRequest, ExecResult, StatusResult } from "@agentcli/protocol";
import { type LauncherConfig, openLauncher, type Start } from "./launcher.ts";
import { openOutputFiles } from "./output-file.ts";
import { openProcess, type Process } from "./process.ts";
import { endNamespace, endProcessTree, type ProcessTree } from "./terminate.ts";
import type { Watchdog } from "./watchdog.ts";

export interface Processes {
  exec(request: ExecRequest, onChunk: (chunk: Chunk) => void, signal: AbortSignal): Promise<ExecResult>;
  list(): StatusResult["processes"];
  release(ids: string[]): Promise<void>;
  holdOutput(): void;
  resumeOutput(): void;
  close(): Promise<void>;
}

export interface ProcessesConfig extends LauncherConfig {
  /** Whose the processes are in the end: of the pid namespace of this server alone, or of the machine. */
  orphans: "ended-by-namespace" | "ended-by-watchdog";
  /** Gets the running groups; absent if a pid namespace ends everything anyway. */
  watchdog?: Watchdog | undefined;
}

// Over 60 lines because all of it works on one table of processes.
export function openProcesses(config: ProcessesConfig): Processes {
  const processes = new Map<string, Process>();
  const launcher = openLauncher(config);
  const outputFiles = openOutputFiles();
  let count = 0;
  // A login shell may be starting already.
  let hasLeftovers = config.warmLoginShell !== undefined;
  let outputIsHeld = false;

  function begin(id: string, start: Start, input: string | undefined): Process {
    count += 1;
    hasLeftovers = true;
    const marker = `${config.incarnation}/${count}/`;
    config.watchdog?.start();
    const process = openProcess({
      marker,
      timeoutMs: start.timeoutMs,
      launch: (events) => launcher.launch(start, { marker, input }, events),
      createOutputFile: outputFiles.create,
      onGroupChange: () => config.watchdog?.guard(livingGroups()),
    });
    if (outputIsHeld) process.holdOutput();
    processes.set(id, process);
    return process;
  }

  const livingGroups = () => [...processes.values()].flatMap((process) => process.tree().leaders);

  /** One look for all of them: a look reads the whole process table. */
  async function releaseAll(): Promise<void> {
    const running = [...processes.values()].filter((process) => process.ending() === undefined);
    const leaders = livingGroups();
    processes.clear();
    await Promise.all(running.map((process) => process.end()));
    if (hasLeftovers) await endLeftovers({ leaders, marker: `${config.incarnation}/` });
    hasLeftovers = false;
    config.watchdog?.guard([]);
  }

  async function endLeftovers(tree: ProcessTree): Promise<void> {
    if (config.orphans !== "ended-by-namespace") return endProcessTree(tree);
    await launcher.settle();
    await endNamespace(tree);
  }

  async function release(ids: string[]): Promise<void> {
    if (ids.length === 0) return releaseAll();
    const named = ids.flatMap((id) => processes.get(id) ?? []);
    for (const id of ids) processes.delete(id);
    await Promise.all(named.map((process) => process.end()));
  }

  return {
    async exec(request, onChunk, signal) {
      const { id, start } = request;
      const existing = processes.get(id);
      if (existing !== undefined) return follow(existing, request, { onChunk, signal });
      if (start === undefined) return { state: "unknown", message: `There is no process ${id} in this workspace.` };
      if (signal.aborted) return { state: "not-started", message: "The call was aborted before the process started." };
      const input = wholeInput(request);
      const rest = input === undefined ? request : { ...request, input: undefined, endInput: undefined };
      return follow(begin(id, start, input), rest, { onChunk, signal });
    },
    list: () =>
      [...processes].map(([id, process]) => ({ id, state: process.ending() === undefined ? "running" : "exited" })),
    release,
    holdOutput() {
      outputIsHeld = true;
      for (const process of processes.values()) process.holdOutput();
    },
    resumeOutput() {
      outputIsHeld = false;
      for (const process of processes.values()) process.resumeOutput();
    },
    async close() {
      await releaseAll();
      await launcher.close();
      outputFiles.close();
      config.watchdog?.stop();
    },
  };
}

/** All that will ever be read, when that is known at the start. */
function wholeInput({ start, input = "", endInput }: ExecRequest): string | undefined {
  return endInput && start?.terminal === undefined ? input : undefined;
}

interface Follower {
  onChunk: (chunk: Chunk) => void;
  signal: AbortSignal;
}

/** Until the process ends, the wait is over, or the caller gives up; then the process is ended first. */
async function follow(process: Process, request: ExecRequest, { onChunk, signal }: Follower): Promise<ExecResult> {
  const stop = process.follow(request.afterSeq ?? 0, onChunk);
  const end = () => void process.end();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const wait = openWait(request.waitMs);
  try {
    void process.apply(request);
    await Promise.race([process.ended, wait.over]);
    if (signal.aborted) await process.end();
    return process.ending() ?? process.running();
  } finally {
    wait.cancel();
    signal.removeEventListener("abort", end);
    stop();
  }
}

function openWait(waitMs: number | undefined): { over: Promise<void>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    if (waitMs !== undefined) timer = setTimeout(resolve, waitMs);
  });
  return { over, cancel: () => clearTimeout(timer) };
}
