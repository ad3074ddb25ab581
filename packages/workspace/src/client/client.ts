// Speaks to a workspace over a byte stream. Whatever comes back, the host is neither crashed nor confused by it.
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Chunk, OperationFrame, Workspace } from "@agentcli/protocol";
import { longestLineBytes, openLineWriter, readLines } from "../lines.ts";
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
import { WorkspaceLost } from "./workspace-lost.ts";

export interface Connection {
  readable: Readable;
  writable: Writable;
  /** How the other side ended, in words; asked for once the stream is over. */
  describeEnd?: () => Promise<string>;
}

type Operation = Extract<OperationFrame, { frame: "call" }>["operation"];

interface Question<Result> {
  operation: Operation;
  request: object | null;
  shape: Shape<Result>;
  onChunk?: (chunk: Chunk) => void;
  signal?: AbortSignal;
}

interface PendingCall {
  question: Question<unknown>;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** How long a server may take to end a process group after an abort. */
const abortAnswerMs = 15_000;
/** How long we wait to hear why a stream ended. */
const describeEndMs = 2000;
/** How long a server may take to answer everything that is not a process. */
const answerMs = 300_000;

/** Settles with the greeting of the server. */
export async function connectWorkspace(connection: Connection): Promise<Workspace> {
  const calls = openCalls(connection);
  const { root, incarnation } = await calls.greeting;
  const ask = calls.ask;
  return {
    root,
    incarnation,
    exec: (request, onChunk, signal) => ask({ operation: "exec", request, shape: isExecResult, onChunk, signal }),
    async read(request) {
      const result = await ask({ operation: "read", request, shape: isReadResult });
      if (result.files.length !== request.files.length) throw calls.lose("it answered for other files than asked.");
      return result;
    },
    list: (request) => ask({ operation: "list", request, shape: isListResult }),
    search: (request) => ask({ operation: "search", request, shape: isSearchResult }),
    edit: (request) => ask({ operation: "edit", request, shape: isEditResult }),
    status: () => ask({ operation: "status", request: null, shape: isStatusResult }),
    release: async (ids) => void (await ask({ operation: "release", request: ids, shape: isNothing })),
  };
}

interface Calls {
  greeting: Promise<{ root: string; incarnation: string }>;
  ask<Result>(question: Question<Result>): Promise<Result>;
  lose(reason: string): WorkspaceLost;
}

// Longer than others because it is one state: the calls that wait, and whether the workspace is lost.
function openCalls(connection: Connection): Calls {
  const writer = openLineWriter(connection.writable);
  const pending = new Map<number, PendingCall>();
  let lost: WorkspaceLost | undefined;
  let lastCall = 0;
  let greet: (hello: { root: string; incarnation: string }) => void = () => {};
  let refuse: (error: Error) => void = () => {};
  const greeting = new Promise<{ root: string; incarnation: string }>((resolve, reject) => {
    greet = resolve;
    refuse = reject;
  });

  function lose(reason: string): WorkspaceLost {
    lost ??= new WorkspaceLost(reason);
    connection.readable.destroy();
    connection.writable.destroy();
    for (const call of pending.values()) call.reject(lost);
    pending.clear();
    refuse(lost);
    return lost;
  }

  async function explainEnd(): Promise<void> {
    const described = connection.describeEnd?.();
    lose((await Promise.race([described, delay(describeEndMs, undefined, { ref: false })])) ?? "its stream ended.");
  }

  function onLine(line: string): void {
    if (lost !== undefined) return;
    const fault = receive(line);
    if (fault !== undefined) lose(fault);
  }

  /** Returns what is wrong with it. Answers nobody waits for are ignored. */
  function receive(line: string): string | undefined {
    const frame = parseServerFrame(line);
    if (frame === undefined) return `it sent what is no frame: ${JSON.stringify(line.slice(0, 120))}.`;
    if (frame.frame === "hello") greet(frame);
    const call = "call" in frame ? pending.get(frame.call) : undefined;
    if (call === undefined || frame.frame === "hello") return undefined;
    const { operation, shape, onChunk } = call.question;
    if (frame.frame === "result" && !shape(frame.result))
      return `it answered ${operation} with what is no such result.`;
    if (frame.frame === "chunk") onChunk?.(frame.chunk);
    else pending.delete(frame.call);
    if (frame.frame === "error") call.reject(new Error(`The workspace failed at ${operation}: ${frame.message}`));
    if (frame.frame === "result") call.resolve(frame.result);
    return undefined;
  }

  readLines(connection.readable, {
    onLine,
    onEnd: (reason) =>
      reason === "ended" ? void explainEnd() : void lose(`it sent a line of more than ${longestLineBytes} bytes.`),
  });

  async function ask<Result>(question: Question<Result>): Promise<Result> {
    if (lost !== undefined) throw lost;
    lastCall += 1;
    const call = lastCall;
    const { operation, request, signal } = question;
    const patience = openPatience((waitedMs) => lose(`it did not answer ${operation} within ${waitedMs} ms.`));
    const abort = () => {
      void writer.send({ frame: "abort", call });
      patience.start(abortAnswerMs);
    };
    try {
      return await new Promise<Result>((resolve, reject) => {
        pending.set(call, { question, resolve: resolve as PendingCall["resolve"], reject });
        if (signal?.aborted) abort();
        void writer.send({ frame: "call", call, operation, request });
        if (operation !== "exec") patience.start(answerMs);
        signal?.addEventListener("abort", abort);
      });
    } finally {
      patience.end();
      signal?.removeEventListener("abort", abort);
    }
  }

  return { greeting, ask, lose };
}

function openPatience(onRunOut: (waitedMs: number) => void): { start(limitMs: number): void; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    start(limitMs) {
      clearTimeout(timer);
      timer = setTimeout(() => onRunOut(limitMs), limitMs);
    },
    end: () => clearTimeout(timer),
  };
}
