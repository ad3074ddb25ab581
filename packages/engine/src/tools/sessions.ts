// Lists and ends commands that run in the background.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import type { ProcessSession } from "../state/state.ts";
import { completed, failed, type ToolContext } from "./tool.ts";
import { continueProcess, unknownSession } from "./write-stdin.ts";

export async function listSessions(_: ToolArguments["list_sessions"], context: ToolContext): Promise<Outcome> {
  const sessions = [...context.state.backgroundProcesses];
  const listed = await Promise.all(
    sessions.map(async ([id, session]) => ({
      session_id: id,
      command: session.command,
      state: await stateOf(session, context),
    })),
  );
  return completed(JSON.stringify({ sessions: listed }));
}

/** Reads nothing: the output since the last call stays for write_stdin. */
async function stateOf({ callId, cursor, outside }: ProcessSession, context: ToolContext): Promise<string> {
  if (outside) return "running outside the sandbox";
  const result = await context.workspace.exec({ id: callId, afterSeq: cursor, waitMs: 0 }, () => {}, context.signal);
  if (result.state === "running") return "running";
  return result.state === "exited" ? `exited with code ${result.exitCode}; write_stdin reads the rest` : "gone";
}

const killWaitMs = 5_000;

export async function killSession(
  { session_id: sessionId }: ToolArguments["kill_session"],
  context: ToolContext,
): Promise<Outcome> {
  const session = context.state.backgroundProcesses.get(sessionId);
  if (!session) return failed(unknownSession(sessionId, [...context.state.backgroundProcesses.keys()]));
  const { callId, cursor } = session;
  const request = { id: callId, signal: "SIGKILL", afterSeq: cursor, waitMs: killWaitMs } as const;
  const wait = { ms: killWaitMs, maxMs: killWaitMs };
  return continueProcess({ request, session, sessionId, wait, maxTokens: undefined }, context);
}
