// Runs a shell command in the workspace; one that takes longer keeps running under a session id.
import type { ExecResult, Outcome, ToolArguments } from "@agentcli/protocol";
import { collectOutput, type OutputCollector } from "../output.ts";
import { describeTimeout, fileAfterBytes, processReport } from "./process-report.ts";
import { sessionIdOf } from "./session-id.ts";
import { failed, type ToolContext } from "./tool.ts";

const defaultYieldMs = 10_000;
const maxYieldMs = 30_000;

export async function execCommand(args: ToolArguments["exec_command"], context: ToolContext): Promise<Outcome> {
  const output = collectOutput();
  const startedAt = performance.now();
  const result = await context.workspace.exec(
    request(args, context),
    (chunk) => {
      output.add(chunk.text);
      context.onProgress({ type: "output", callId: context.callId, text: chunk.text });
    },
    context.signal,
  );
  return report(result, { args, context, output, durationMs: performance.now() - startedAt });
}

function request(args: ToolArguments["exec_command"], context: ToolContext) {
  const shell = args.shell ?? context.state.turn?.settings.shell ?? "/bin/sh";
  return {
    id: context.callId,
    start: {
      argv: [shell, "-c", args.cmd],
      cwd: args.workdir,
      loginShell: args.login === false ? undefined : shell,
      terminal: args.tty ? { columns: 120, rows: 40 } : undefined,
      timeoutMs: context.toolTimeoutMs ?? undefined,
    },
    waitMs: waitOf(args),
    fileAfterBytes: fileAfterBytes(context, args.max_output_tokens),
  };
}

const waitOf = ({ yield_time_ms }: ToolArguments["exec_command"]): number =>
  Math.min(maxYieldMs, Math.max(250, yield_time_ms ?? defaultYieldMs));

interface FinishedWait {
  args: ToolArguments["exec_command"];
  context: ToolContext;
  output: OutputCollector;
  durationMs: number;
}

function report(result: ExecResult, ran: FinishedWait): Outcome {
  if (result.state === "not-started" || result.state === "unknown") return failed(result.message);
  const running = result.state === "running";
  const sessionId = sessionIdOf(ran.context.callId);
  const exitCode = running ? null : result.exitCode;
  return {
    status: running || exitCode === 0 ? "completed" : "failed",
    parts: processReport({
      ...ran,
      key: ran.context.callId,
      result,
      sessionId,
      wait: { ms: waitOf(ran.args), maxMs: maxYieldMs },
      maxTokens: ran.args.max_output_tokens,
    }),
    reason: !running && result.timedOut ? describeTimeout(result.durationMs, ran.context.toolTimeoutMs) : undefined,
    detail: {
      kind: "command",
      output: ran.output.text(),
      exitCode,
      sessionId: running ? sessionId : undefined,
      cursor: result.seq,
      durationMs: running ? ran.durationMs : result.durationMs,
    },
  };
}
