// The client of a workspace server over a byte stream. The server is not trusted: nothing it sends can crash or confuse the host.

import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Chunk, ExecRequest, OperationFrame, Workspace } from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { maxLineBytes, openLineWriter, readLines } from "../wire/index.ts";
import {
  isEditResult,
  isExecResult,
  isListResult,
  isNothing,
  isReadResult,
  isSearchResult,
  isStatusResult,
  parseServerFrame,
  type Shape,
} from "./shapes.ts";

export interface Connection {
  readable: Readable;
  writable: Writable;
  /** How the server ended, as text; called once the stream is over. */
  describeEnd?: () => Promise<string>;
}

type Operation = Extract<OperationFrame, { frame: "call" }>["operation"];

interface OperationCall<Result> {
  operation: Operation;
  request: object | null;
  shape: Shape<Result>;
  /** How long the server itself may wait before it answers; null: for as long as a process runs. */
  waitMs?: number | null;
  onChunk?: (chunk: Chunk) => void;
  signal?: AbortSignal;
}

interface PendingCall {
  spec: OperationCall<unknown>;
  onProgress(): void;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** How long a server may take to end a process group after an abort. */
const abortTimeoutMs = 15_000;
/** How long to wait for the reason why a stream ended. */
const describeEndTimeoutMs = 2000;
/** How long a server may take to answer, beside what it was asked to wait for. Output of a command is an answer too. */
const answerTimeoutMs = 300_000;

/** How a server introduces itself. */
export type Greeting = Pick<Workspace, "root" | "incarnation">;

/** Settles when the server has sent its hello. */
export async function connectWorkspace(connection: Connection): Promise<Workspace> {
  const calls = openCalls(connection);
  return workspaceOf(await calls.greeting, calls);
}

export interface StartingWorkspace {
  /** Its operations can be called at once: the server finds them in its input. */
  workspace: Workspace;
  /** Settles when the server has sent its hello; to be compared with what was expected. */
  greeting: Promise<Greeting>;
}

/** Does not wait for the server to start. */
export function connectStarting(connection: Connection, expected: Greeting): StartingWorkspace {
  const calls = openCalls(connection);
  return { workspace: workspaceOf(expected, calls), greeting: calls.greeting };
}

const workspaceOf = ({ root, incarnation }: Greeting, { perform, lose }: Calls): Workspace => ({
  root,
  incarnation,
  exec: (request, onChunk, signal) =>
    perform({ operation: "exec", request, shape: isExecResult, waitMs: waitOf(request), onChunk, signal }),
  async read(request) {
    const result = await perform({ operation: "read", request, shape: isReadResult });
    if (result.files.length !== request.files.length)
      throw lose("it returned a different number of files than requested.");
    return result;
  },
  list: (request) => perform({ operation: "list", request, shape: isListResult }),
  search: (request) => perform({ operation: "search", request, shape: isSearchResult }),
  edit: (request) => perform({ operation: "edit", request, shape: isEditResult }),
  status: () => perform({ operation: "status", request: null, shape: isStatusResult }),
  release: async (ids) => void (await perform({ operation: "release", request: ids, shape: isNothing })),
});

const waitOf = ({ waitMs, start }: ExecRequest): number | null => waitMs ?? start?.timeoutMs ?? null;

interface Calls {
  greeting: Promise<Greeting>;
  perform<Result>(spec: OperationCall<Result>): Promise<Result>;
  lose(reason: string): WorkspaceLost;
}

// Over 60 lines because it is one state: the pending calls, and whether the workspace is lost.
function openCalls(connection: Connection): Calls {
  const writer = openLineWriter(connection.writable);
  const pending = new Map<number, PendingCall>();
  let lost: WorkspaceLost | undefined;
  let lastCall = 0;
  let resolveGreeting: (hello: Greeting) => void = () => {};
  let rejectGreeting: (error: Error) => void = () => {};
  const greeting = new Promise<Greeting>((resolve, reject) => {
    resolveGreeting = resolve;
    rejectGreeting = reject;
  });

  function lose(reason: string): WorkspaceLost {
    lost ??= new WorkspaceLost(reason);
    connection.readable.destroy();
    connection.writable.destroy();
    for (const call of pending.values()) call.reject(lost);
    pending.clear();
    rejectGreeting(lost);
    return lost;
  }

  async function explainEnd(): Promise<void> {
    const described = connection.describeEnd?.();
    lose(
      (await Promise.race([described, delay(describeEndTimeoutMs, undefined, { ref: false })])) ?? "its stream ended.",
    );
  }

  function onLine(line: string): void {
    if (lost !== undefined) return;
    const fault = receive(line);
    if (fault !== undefined) lose(fault);
  }

  /** Returns what is wrong with the line. Responses to calls that are not pending are ignored. */
  function receive(line: string): string | undefined {
    const frame = parseServerFrame(line);
    if (frame === undefined) return `it sent an invalid frame: ${JSON.stringify(line.slice(0, 120))}.`;
    if (frame.frame === "hello") resolveGreeting(frame);
    const call = "call" in frame ? pending.get(frame.call) : undefined;
    if (call === undefined || frame.frame === "hello") return undefined;
    const { operation, shape, onChunk } = call.spec;
    call.onProgress();
    if (frame.frame === "result" && !shape(frame.result)) return `it sent an invalid result for ${operation}.`;
    if (frame.frame === "chunk") onChunk?.(frame.chunk);
    else pending.delete(frame.call);
    if (frame.frame === "error") call.reject(new Error(`The workspace failed at ${operation}: ${frame.message}`));
    if (frame.frame === "result") call.resolve(frame.result);
    return undefined;
  }

  readLines(connection.readable, {
    onLine,
    onEnd: (reason) =>
      reason === "ended" ? void explainEnd() : void lose(`it sent a line of more than ${maxLineBytes} bytes.`),
  });

  async function perform<Result>(spec: OperationCall<Result>): Promise<Result> {
    if (lost !== undefined) throw lost;
    lastCall += 1;
    const call = lastCall;
    const { operation, request, waitMs = 0, signal } = spec;
    const deadline = openDeadline((waitedMs) => lose(`it did not answer ${operation} within ${waitedMs} ms.`));
    const abort = () => {
      void writer.send({ frame: "abort", call });
      deadline.start(abortTimeoutMs);
    };
    try {
      return await new Promise<Result>((resolve, reject) => {
        pending.set(call, {
          spec,
          onProgress: deadline.restart,
          resolve: resolve as PendingCall["resolve"],
          reject,
        });
        if (waitMs !== null) deadline.start(Math.min(waitMs + answerTimeoutMs, maxTimerMs));
        if (signal?.aborted) abort();
        void writer.send({ frame: "call", call, operation, request });
        signal?.addEventListener("abort", abort);
      });
    } finally {
      deadline.end();
      signal?.removeEventListener("abort", abort);
    }
  }

  return { greeting, perform, lose };
}

/** Longer ones would expire at once. */
const maxTimerMs = 2 ** 31 - 1;

interface Deadline {
  start(limitMs: number): void;
  /** Anew with the same limit, once it was started. */
  restart(): void;
  end(): void;
}

function openDeadline(onExpired: (waitedMs: number) => void): Deadline {
  let timer: NodeJS.Timeout | undefined;
  return {
    start(limitMs) {
      clearTimeout(timer);
      timer = setTimeout(() => onExpired(limitMs), limitMs);
    },
    restart: () => void timer?.refresh(),
    end() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
