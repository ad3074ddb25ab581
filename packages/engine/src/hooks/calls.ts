// Hooks around tool calls: before, when an approval is missing, and after.
import type { Outcome } from "@agentcli/protocol";
import { isEditTool, patchText } from "../patch/proposed.ts";
import { lastMessage, textPart } from "../state/messages.ts";
import { readPaths } from "../state/touched.ts";
import type { Admission, HookContext, PlannedCall, ThreadHooks } from "../thread-hooks.ts";
import type { Parsed, Tool } from "../tools/tool.ts";
import type { HookCall, HookPoint } from "./point.ts";
import type { HookHost } from "./port.ts";
import type { HookResults } from "./run-hooks.ts";

export interface CallHooks extends Pick<ThreadHooks, "admit" | "approve" | "settled"> {
  /** The calls of this thread so far. */
  activity(): { toolCalls: number; modifiedFiles: string[] };
}

type RunAt = (point: HookPoint, thread: HookContext) => Promise<HookResults>;

export function callHooks(runAt: RunAt, { definitions, dialects }: HookHost): CallHooks {
  const needsContent = definitions.some(({ event, dialect }) => dialects[dialect].needsFileContent(event));
  const startedAt = new Map<string, number>();
  const modified = new Set<string>();
  let toolCalls = 0;

  const finish = async (call: HookCall, outcome: Outcome, thread: HookContext): Promise<Outcome> => {
    toolCalls += 1;
    if (outcome.detail.kind === "patch") for (const { path } of outcome.detail.changes) modified.add(path);
    const durationMs = performance.now() - (startedAt.get(call.callId) ?? performance.now());
    const { combined } = await runAt({ kind: "called", call, outcome, durationMs }, thread);
    const text = combined.block?.reason ?? (call.mcp ? combined.output : null);
    return text === null ? outcome : { ...outcome, parts: [textPart(text)] };
  };

  return {
    async admit(planned, thread) {
      const call = callOf(planned);
      const content = needsContent ? await contentFor(planned, thread) : null;
      const { combined } = await runAt({ kind: "calling", call, content, reply: lastReply(thread) }, thread);
      // Hooks that were aborted have not allowed the call.
      if (thread.signal.aborted) return { kind: "declined", reason: "the run was stopped before this call began" };
      startedAt.set(call.callId, performance.now());
      if (combined.block) {
        await runAt({ kind: "refused", call, reason: combined.block.reason }, thread);
        return { kind: "declined", reason: sentence(combined.block, call) };
      }
      return combined.input ? rewrite(planned, call, combined.input) : { kind: "admitted", args: planned.args };
    },
    async approve(planned, thread) {
      const { combined } = await runAt({ kind: "needing-approval", call: callOf(planned) }, thread);
      if (combined.block) return { kind: "declined", reason: combined.block.reason };
      return combined.approves ? { kind: "allowed" } : null;
    },
    async settled(planned, outcome, thread) {
      const { detail } = outcome;
      // A command that is still running is reported when it ends, by the call that observes it.
      if (detail.kind === "command" && detail.sessionId !== undefined) return outcome;
      if (detail.kind === "input") {
        const command = detail.running ? null : commandOf(detail.sessionId, thread);
        return command ? finish(command, outcome, thread) : outcome;
      }
      return finish(callOf(planned), outcome, thread);
    },
    activity: () => ({ toolCalls, modifiedFiles: [...modified] }),
  };
}

const callOf = ({ callId, tool, args }: PlannedCall): HookCall => ({
  callId,
  name: tool.name,
  args: (args ?? {}) as Record<string, unknown>,
  mcp: tool.mcp,
});

/** A wording that models are used to. */
function sentence({ reason, event }: { reason: string; event: string }, { name, args }: HookCall): string {
  if (name === "exec_command") return `Command blocked by ${event} hook: ${reason}. Command: ${args.cmd}`;
  return `Tool call blocked by ${event} hook: ${reason}. Tool: ${name}`;
}

/** Rewritten arguments are validated like those of the model. */
async function rewrite(
  { tool, args }: PlannedCall,
  call: HookCall,
  input: Record<string, unknown>,
): Promise<Admission> {
  const newArgs = rewrittenArguments(call, input);
  const parsed: Parsed =
    newArgs === null
      ? { kind: "problem", message: "it gives no command that can be used" }
      : await parseRewritten(newArgs, tool);
  if (parsed.kind === "arguments") return { kind: "admitted", args: parsed.args };
  const before = args === undefined ? "" : " The call was not made.";
  return { kind: "declined", reason: `A hook rewrote the arguments of ${tool.name}, and ${parsed.message}.${before}` };
}

/** Null if the hook left out the command. A patch without one stays as it is. */
function rewrittenArguments({ name, args }: HookCall, input: Record<string, unknown>): Record<string, unknown> | null {
  if (name === "apply_patch" && !("command" in input)) return args;
  if (isEditTool(name) && name !== "apply_patch") return rewrittenEdit(name, args, input);
  const parameter = { exec_command: "cmd", apply_patch: "input" }[name];
  if (parameter === undefined) return input;
  return typeof input.command === "string" ? { ...args, [parameter]: input.command } : null;
}

/** The patch in the input of a hook only shows the edit: it cannot be rewritten. */
function rewrittenEdit(
  name: string,
  args: Record<string, unknown>,
  { command, ...rest }: Record<string, unknown>,
): Record<string, unknown> | null {
  if (command !== undefined && command !== patchText(name, args)) return null;
  return Object.keys(rest).length > 0 ? rest : args;
}

async function parseRewritten(args: Record<string, unknown>, tool: Tool): Promise<Parsed> {
  // A patch given to a shell also has a working directory, which the schema does not allow.
  const { workdir, ...written } = args;
  if (tool.name !== "apply_patch") return tool.parse(JSON.stringify(args), "function");
  const parsed = await tool.parse(JSON.stringify(written), "function");
  if (parsed.kind === "problem" || workdir === undefined) return parsed;
  return { kind: "arguments", args: { ...(parsed.args as object), workdir } };
}

const maxContentLines = 2_000;

/** The lines that the call would read. */
async function contentFor({ tool, args }: PlannedCall, { workspace }: HookContext): Promise<string | null> {
  if (tool.name !== "read_file") return null;
  const paths = readPaths(args as Record<string, unknown>);
  const request = paths.map((path) => ({ path, as: "lines" as const, offset: 1, limit: maxContentLines }));
  const { files } = await workspace.read({ files: request });
  const texts = files.flatMap((file) => (file.kind === "lines" ? [file.lines.join("\n")] : []));
  return texts.length > 0 ? texts.join("\n") : null;
}

function lastReply({ log }: HookContext): string {
  const reply = log.state.messages.findLast(({ role }) => role === "assistant");
  return reply?.role === "assistant" ? (lastMessage(reply.blocks) ?? "") : "";
}

/** The call that started a command, as it was admitted. */
function commandOf(sessionId: number, { log }: HookContext): HookCall | null {
  const session = log.state.backgroundProcesses.get(sessionId);
  return session ? { callId: session.callId, name: "exec_command", args: { cmd: session.command } } : null;
}
