// What hooks are told of calls: before, when an approval is missing, and after.
import type { HookDefinition, Outcome } from "@agentcli/protocol";
import type { Drive } from "../running.ts";
import { lastMessage, textPart } from "../state.ts";
import type { Tool } from "../tools/tool.ts";
import { rewritten as fromAgentcli } from "./agentcli/tools.ts";
import type { Heard } from "./ask-hooks.ts";
import type { Admission, HookGate, PlannedCall } from "./gate.ts";
import type { Call, Moment } from "./moment.ts";
import { rewritten as fromPlatform } from "./platform/tools.ts";

export interface CallHooks extends Pick<HookGate, "admit" | "approve" | "settled"> {
  /** What the calls of this thread have come to. */
  work(): { toolCalls: number; modifiedFiles: string[] };
}

type Tell = (moment: Moment, run: Drive) => Promise<Heard>;

export function callHooks(tell: Tell, definitions: HookDefinition[]): CallHooks {
  const judgesReading = definitions.some(({ event }) => event === "beforeReadFile");
  const startedAt = new Map<string, number>();
  const modified = new Set<string>();
  let toolCalls = 0;

  const finish = async (call: Call, outcome: Outcome, run: Drive): Promise<Outcome> => {
    toolCalls += 1;
    if (outcome.detail.kind === "patch") for (const { path } of outcome.detail.changes) modified.add(path);
    const durationMs = performance.now() - (startedAt.get(call.callId) ?? performance.now());
    const { judgement } = await tell({ kind: "called", call, outcome, durationMs }, run);
    const text = judgement.block?.reason ?? (call.mcp ? judgement.output : null);
    return text === null ? outcome : { ...outcome, parts: [textPart(text)] };
  };

  return {
    async admit(planned, run) {
      const call = callOf(planned);
      const content = judgesReading ? await contentFor(planned, run) : null;
      const moment: Moment = { kind: "calling", call, content, said: saidIn(run) };
      const { judgement } = await tell(moment, run);
      // Hooks ended in the middle have not said yes.
      if (run.signal.aborted) return { kind: "declined", reason: "the run was stopped before this call began" };
      startedAt.set(call.callId, performance.now());
      if (judgement.block) {
        await tell({ kind: "refused", call, reason: judgement.block.reason }, run);
        return { kind: "declined", reason: sentence(judgement.block, call) };
      }
      return judgement.input ? rewrite(planned, call, judgement.input) : { kind: "admitted", args: planned.args };
    },
    async approve(planned, run) {
      const { judgement } = await tell({ kind: "needing-approval", call: callOf(planned) }, run);
      if (judgement.block) return { kind: "declined", reason: judgement.block.reason };
      return judgement.approves ? { kind: "allowed" } : null;
    },
    async settled(planned, outcome, run) {
      const { detail } = outcome;
      // A command that goes on is told of when it ends, whichever call waits for that.
      if (detail.kind === "command" && detail.sessionId !== undefined) return outcome;
      if (detail.kind === "input") {
        const command = detail.running ? null : commandBehind(detail.sessionId, run);
        return command ? finish(command, outcome, run) : outcome;
      }
      return finish(callOf(planned), outcome, run);
    },
    work: () => ({ toolCalls, modifiedFiles: [...modified] }),
  };
}

const callOf = ({ callId, tool, args }: PlannedCall): Call => ({
  callId,
  name: tool.name,
  args: (args ?? {}) as Record<string, unknown>,
  mcp: tool.mcp,
});

/** In the words models know. */
function sentence({ reason, event }: { reason: string; event: string }, { name, args }: Call): string {
  if (name === "exec_command") return `Command blocked by ${event} hook: ${reason}. Command: ${args.cmd}`;
  return `Tool call blocked by ${event} hook: ${reason}. Tool: ${name}`;
}

/** A hook may write whatever it likes; the tool still gets only what it takes. */
async function rewrite({ tool, args }: PlannedCall, call: Call, input: Record<string, unknown>): Promise<Admission> {
  const wanted = "command" in input ? fromAgentcli(call, input) : fromPlatform(call, input);
  const problem = wanted === null ? "it gives no command" : await problemWith(wanted, tool);
  if (problem === null) return { kind: "admitted", args: wanted };
  const before = args === undefined ? "" : " The call was not made.";
  return { kind: "declined", reason: `A hook rewrote the arguments of ${tool.name}, and ${problem}.${before}` };
}

async function problemWith(args: Record<string, unknown>, tool: Tool): Promise<string | null> {
  // A patch given to a shell has a working directory besides, which no model can write.
  const { workdir: _, ...written } = args;
  const parsed = await tool.parse(JSON.stringify(tool.name === "apply_patch" ? written : args), "function");
  return parsed.kind === "problem" ? parsed.message : null;
}

const mostContentLines = 2_000;

/** Hooks that judge reading are shown what would be read. */
async function contentFor({ tool, args }: PlannedCall, { workspace }: Drive): Promise<string | null> {
  if (tool.name !== "read_file") return null;
  const { path } = args as { path: string };
  const [file] = (await workspace.read({ files: [{ path, as: "lines", offset: 1, limit: mostContentLines }] })).files;
  return file?.kind === "lines" ? file.lines.join("\n") : null;
}

function saidIn({ log }: Drive): string {
  const reply = log.state.messages.findLast(({ role }) => role === "assistant");
  return reply?.role === "assistant" ? (lastMessage(reply.blocks) ?? "") : "";
}

/** The call that started a command, as it was admitted. */
function commandBehind(sessionId: number, { log }: Drive): Call | null {
  const session = log.state.sessions.get(sessionId);
  return session ? { callId: session.callId, name: "exec_command", args: { cmd: session.command } } : null;
}
