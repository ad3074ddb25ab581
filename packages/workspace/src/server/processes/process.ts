// One process by its caller-chosen id: its numbered output, its input, and how it ended.
import { setTimeout as delay } from "node:timers/promises";
import type { Chunk, ExecRequest, ExecResult } from "@agentcli/protocol";
import { explainLimit } from "@agentcli/protocol/system-errors";
import type { Child, ChildEvents, Launch } from "./child.ts";
import { awaitEndOfOutput } from "./end-of-output.ts";
import { openOutputBuffer } from "./output-buffer.ts";
import type { OutputFile } from "./output-file.ts";
import { endProcessTree, killProcessTree, type ProcessTree, signalGroup, signalProcessTree } from "./terminate.ts";

export type Ending = Extract<ExecResult, { state: "exited" | "not-started" }>;

export interface Process {
  readonly ended: Promise<Ending>;
  ending(): Ending | undefined;
  running(): Extract<ExecResult, { state: "running" }>;
  /** Replays what came after number `seq`, then tells what comes. Returns how to stop. */
  follow(seq: number, onChunk: (chunk: Chunk) => void): () => void;
  /** A file for its output at once; input, end of input, new size and signal, in this order, once the process has started. */
  apply(request: ExecRequest): Promise<void>;
  /** Ends it with everything it started; settles when that is done. */
  end(): Promise<void>;
  tree(): ProcessTree;
  holdOutput(): void;
  resumeOutput(): void;
}

export interface ProcessSpec {
  /** How the marker variable in its environment begins. */
  marker: string;
  timeoutMs: number | undefined;
  launch(events: ChildEvents): Promise<Launch>;
  createOutputFile(): OutputFile | undefined;
  /** The group of this process has come or gone. */
  onGroupChange(): void;
}

const exitNoticeMs = 1000;

// Over 60 lines because these variables are one state machine: starting, running, exited, ended.
export function openProcess({ marker, timeoutMs, launch, createOutputFile, onGroupChange }: ProcessSpec): Process {
  const begunAt = performance.now();
  const buffer = openOutputBuffer(createOutputFile);
  // While the tree is being ended, that settles it: not before the last process is gone.
  const endOfOutput = awaitEndOfOutput(() => endInProgress ?? settleExited());
  const { promise: ended, resolve: resolveEnded } = openPromise<Ending>();
  const { promise: exitNoticed, resolve: noticeExit } = openPromise<void>();
  let child: Child | undefined;
  let leader: number | undefined;
  let exit: { code: number; at: number } | undefined;
  let timedOut = false;
  let ending: Ending | undefined;
  let endInProgress: Promise<void> | undefined;
  let timeout: NodeJS.Timeout | undefined;

  const started = start();
  return {
    ended,
    ending: () => ending,
    running: () => ({ state: "running", seq: buffer.lastSeq(), ...buffer.describeFile() }),
    follow: buffer.follow,
    apply(request) {
      if (request.fileAfterBytes !== undefined) buffer.keepInFile(request.fileAfterBytes);
      return started.then(() => applyNow(request));
    },
    end,
    tree,
    holdOutput() {
      endOfOutput.hold();
      void started.then(() => child?.holdOutput());
    },
    resumeOutput() {
      endOfOutput.resume();
      void started.then(() => child?.resumeOutput());
    },
  };

  async function start(): Promise<void> {
    const launched = await launch({ output, exited, closed: endOfOutput.closed }).catch(notStarted);
    if (launched.kind === "not-started") return settle({ state: "not-started", message: launched.message });
    child = launched.child;
    leader = child.pid;
    onGroupChange();
    if (timeoutMs !== undefined) timeout = setTimeout(() => void endOnTimeout(), timeoutMs);
  }

  function output(stream: Chunk["stream"], text: string): void {
    // Output of children left behind is read, so that they do not block, and dropped.
    if (ending !== undefined) return;
    buffer.append(stream, text);
    endOfOutput.arrived();
  }

  function exited(code: number): void {
    exit = { code, at: performance.now() };
    noticeExit();
    // A group that still has processes keeps its id; the id of an empty one may be reused.
    if (leader !== undefined && !signalGroup(leader, 0)) leader = undefined;
    onGroupChange();
    endOfOutput.exited();
  }

  function settleExited(): void {
    const exitCode = timedOut ? 124 : (exit?.code ?? 137);
    const durationMs = (exit?.at ?? performance.now()) - begunAt;
    const [seq, droppedBytes] = [buffer.lastSeq(), buffer.droppedBytes()];
    settle({ state: "exited", seq, exitCode, durationMs, timedOut, droppedBytes, ...buffer.describeFile() });
  }

  function settle(result: Ending): void {
    if (ending !== undefined) return;
    ending = result;
    clearTimeout(timeout);
    endOfOutput.stop();
    resolveEnded(result);
  }

  function applyNow({ input, endInput, resize, signal }: ExecRequest): void {
    if (ending !== undefined || child === undefined) return;
    if (input !== undefined) child.write(input);
    if (endInput) child.endInput();
    if (resize !== undefined) child.resize(resize);
    if (signal === "SIGKILL") void killProcessTree(tree());
    else if (signal !== undefined) signalProcessTree(tree(), signal);
  }

  async function endOnTimeout(): Promise<void> {
    timedOut = true;
    await end();
  }

  function end(): Promise<void> {
    endInProgress ??= started.then(endNow);
    return endInProgress;
  }

  async function endNow(): Promise<void> {
    if (child === undefined) return;
    await endProcessTree(tree());
    leader = undefined;
    onGroupChange();
    // The process table knows of the exit before the event arrives; an unkillable process must not block this.
    if (exit === undefined) await Promise.race([exitNoticed, delay(exitNoticeMs, undefined, { ref: false })]);
    settleExited();
  }

  function tree(): ProcessTree {
    return { leaders: leader === undefined ? [] : [leader], marker };
  }
}

const notStarted = (error: Error): Launch => ({
  kind: "not-started",
  message: explainLimit(error) ?? `The process could not be started: ${error.message}.`,
});

function openPromise<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
