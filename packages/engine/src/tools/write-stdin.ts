// Sends input to a running command, interrupts it, or waits for more output.
import type { ExecRequest, Outcome, ToolArguments } from "@agentcli/protocol";
import { collectOutput } from "../output.ts";
import type { ProcessSession } from "../state/state.ts";
import { fileAfterBytes, maxPollMs, processReport } from "./process-report.ts";
import { failed, type ToolContext } from "./tool.ts";

const interrupt = "\u0003";

export async function writeStdin(args: ToolArguments["write_stdin"], context: ToolContext): Promise<Outcome> {
  const session = context.state.backgroundProcesses.get(args.session_id);
  if (!session) return failed(unknownSession(args.session_id, [...context.state.backgroundProcesses.keys()]));
  const options = { request: request(args, session), session, sessionId: args.session_id, wait: waitOf(args) };
  return continueProcess({ ...options, maxTokens: args.max_output_tokens }, context);
}

export interface ContinueOptions {
  request: ExecRequest;
  session: ProcessSession;
  sessionId: number;
  /** How long the caller waits for output, and how long it could. */
  wait: { ms: number; maxMs: number };
  maxTokens: number | undefined;
}

/** Sends a request to a running process and reports what it printed since the last one. */
export async function continueProcess(
  { request, session, sessionId, wait, maxTokens }: ContinueOptions,
  context: ToolContext,
): Promise<Outcome> {
  const output = collectOutput();
  const startedAt = performance.now();
  const result = await context.workspace.exec(
    { ...request, fileAfterBytes: fileAfterBytes(context, maxTokens) },
    (chunk) => {
      output.add(chunk.text);
      context.onProgress({ type: "output", callId: session.callId, text: chunk.text });
    },
    context.signal,
  );
  if (result.state === "not-started" || result.state === "unknown") return failed(result.message);
  const running = result.state === "running";
  const durationMs = performance.now() - startedAt;
  const key = `${context.callId}:${result.seq}`;
  return {
    status: "completed",
    parts: processReport({ context, key, output, result, sessionId, durationMs, wait, maxTokens }),
    detail: {
      kind: "input",
      sessionId,
      output: output.text(),
      exitCode: running ? null : result.exitCode,
      running,
      cursor: result.seq,
      durationMs,
    },
  };
}

function request(args: ToolArguments["write_stdin"], session: ProcessSession): ExecRequest {
  const chars = args.chars ?? "";
  // Without a terminal, ^C is not turned into a signal.
  const signal = chars === interrupt && !session.terminal ? "SIGINT" : undefined;
  return {
    id: session.callId,
    input: signal || chars === "" ? undefined : chars,
    signal,
    afterSeq: session.cursor,
    waitMs: waitOf(args).ms,
  };
}

const maxInputWaitMs = 30_000;

function waitOf({ chars = "", yield_time_ms }: ToolArguments["write_stdin"]): { ms: number; maxMs: number } {
  return chars === ""
    ? { ms: clamp(yield_time_ms ?? 5_000, 5_000, maxPollMs), maxMs: maxPollMs }
    : { ms: clamp(yield_time_ms ?? 250, 1, maxInputWaitMs), maxMs: maxInputWaitMs };
}

const clamp = (value: number, low: number, high: number): number => Math.round(Math.min(high, Math.max(low, value)));

export const unknownSession = (id: number, running: number[]): string =>
  `There is no running command with session id ${id}. ` +
  (running.length > 0 ? `Running: ${running.join(", ")}.` : "No command is running; start one with exec_command.");
