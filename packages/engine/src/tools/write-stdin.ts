// Sends input to a running command, interrupts it, or waits for more output.
import type { ExecRequest, ToolArguments } from "@agentcli/protocol";
import { collectOutput } from "../output.ts";
import type { ProcessSession } from "../state/state.ts";
import { fileAfterBytes, maxPollMs, processReport } from "./process-report.ts";
import { builtIn, failed } from "./tool.ts";

const interrupt = "\u0003";

export const writeStdin = builtIn({
  name: "write_stdin",
  description: "Send characters to a command that is still running, or wait for its output with empty chars.",
  onResume: "once",
  parallel: false,
  async run(args, context) {
    const session = context.state.backgroundProcesses.get(args.session_id);
    if (!session) return failed(unknownSession(args.session_id, [...context.state.backgroundProcesses.keys()]));
    const output = collectOutput();
    const startedAt = performance.now();
    const result = await context.workspace.exec(
      { ...request(args, session), fileAfterBytes: fileAfterBytes(context, args.max_output_tokens) },
      (chunk) => {
        output.add(chunk.text);
        context.onProgress({ type: "output", callId: session.callId, text: chunk.text });
      },
      context.signal,
    );
    if (result.state === "not-started" || result.state === "unknown") return failed(result.message);
    const running = result.state === "running";
    const exitCode = running ? null : result.exitCode;
    const durationMs = performance.now() - startedAt;
    return {
      status: "completed",
      parts: processReport({
        context,
        key: `${context.callId}:${result.seq}`,
        output,
        result,
        sessionId: args.session_id,
        durationMs,
        wait: waitOf(args),
        maxTokens: args.max_output_tokens,
      }),
      detail: {
        kind: "input",
        sessionId: args.session_id,
        output: output.text(),
        exitCode,
        running,
        cursor: result.seq,
        durationMs,
      },
    };
  },
});

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

const unknownSession = (id: number, running: number[]): string =>
  `There is no running command with session id ${id}. ` +
  (running.length > 0 ? `Running: ${running.join(", ")}.` : "No command is running; start one with exec_command.");
