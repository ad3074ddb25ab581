// Serves a workspace over a byte stream: newline-delimited frames in, newline-delimited frames out.

import type { Readable, Writable } from "node:stream";
import type { OperationFrame, Workspace } from "@agentcli/protocol";
import { type LineWriter, openLineWriter, readLines } from "../wire/index.ts";
import type { WorkspaceServer } from "./server.ts";

type CallFrame = Extract<OperationFrame, { frame: "call" }>;

/** Settles when the other side has gone; what was started stays until the workspace is closed. */
export function serveWorkspace(workspace: WorkspaceServer, readable: Readable, writable: Writable): Promise<void> {
  const writer = openLineWriter(writable, { onFull: workspace.holdOutput, onDrain: workspace.resumeOutput });
  const aborts = new Map<number, AbortController>();
  let lastCall = 0;

  /** An abort may come before its call: then the call finds it. One that comes after the answer is nothing any more. */
  function abortControllerOf(call: number): AbortController | undefined {
    if (call > lastCall && !aborts.has(call)) aborts.set(call, new AbortController());
    return aborts.get(call);
  }

  async function handleCall(frame: CallFrame): Promise<void> {
    const abort = abortControllerOf(frame.call) ?? new AbortController();
    lastCall = Math.max(lastCall, frame.call);
    try {
      const result = await perform(workspace, frame, { writer, signal: abort.signal });
      void writer.send({ frame: "result", call: frame.call, result: result ?? null });
    } catch (error) {
      void writer.send({
        frame: "error",
        call: frame.call,
        message: error instanceof Error ? error.message : String(error),
      });
    } finally {
      aborts.delete(frame.call);
    }
  }

  void writer.send({ frame: "hello", root: workspace.root, incarnation: workspace.incarnation });
  return new Promise((resolve) => {
    readLines(readable, {
      onLine(line) {
        const frame = JSON.parse(line) as OperationFrame;
        if (frame.frame === "call") void handleCall(frame);
        if (frame.frame === "abort") abortControllerOf(frame.call)?.abort();
      },
      onEnd: () => resolve(),
    });
  });
}

interface CallContext {
  writer: LineWriter;
  signal: AbortSignal;
}

function perform(workspace: Workspace, frame: CallFrame, { writer, signal }: CallContext): Promise<unknown> {
  // Requests come from the side that started this server, which has checked them.
  const request = frame.request as never;
  switch (frame.operation) {
    case "exec":
      return workspace.exec(request, (chunk) => void writer.send({ frame: "chunk", call: frame.call, chunk }), signal);
    case "read":
      return workspace.read(request);
    case "list":
      return workspace.list(request);
    case "search":
      return workspace.search(request);
    case "edit":
      return workspace.edit(request);
    case "status":
      return workspace.status();
    case "release":
      return workspace.release(request);
  }
}
