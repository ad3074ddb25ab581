// Runs the calls of one reply: admit, write down, act, write down what came of it.
import type { Outcome } from "@agentcli/protocol";
import { seekApproval } from "./approval.ts";
import { emptyLedger, type Ledger } from "./budget.ts";
import type { Admission, PlannedCall } from "./hooks/gate.ts";
import type { Json } from "./json.ts";
import { readEmbeddedPatch } from "./patch/embedded.ts";
import type { Workspace } from "./ports.ts";
import { type Drive, elsewhere } from "./running.ts";
import { findOpenCall, type OpenCall, textPart } from "./state.ts";
import { applyPatch } from "./tools/apply-patch.ts";
import { failed, type Parsed, type Tool } from "./tools/tool.ts";
import { interrupted, lost, stopped } from "./turn.ts";

// A model that asks for hundreds of commands at once gets them all, and the machine stays usable.
const mostAtOnce = 32;

/** Calls that may run beside each other do; one that may not waits for those before it and runs alone. */
export async function runCalls(calls: OpenCall[], run: Drive): Promise<void> {
  const mayShare = (call: OpenCall) => findTool(call.block.name, run)?.parallel ?? true;
  const alone = calls.findIndex((call) => !mayShare(call));
  const most = Math.min(mostAtOnce, alone === -1 ? calls.length : alone, callsLeft(run));
  const batch = calls.slice(0, Math.max(1, most));
  const fresh = batch.filter(({ begun }) => !begun).length;
  const reserved = { ...emptyLedger(), tools: Math.min(fresh, Math.max(0, callsLeft(run))) };
  run.reservations.set(run.log.state.threadId, reserved);
  const results = await Promise.allSettled(batch.map((call) => runCall(call, reserved, run)));
  run.reservations.delete(run.log.state.threadId);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** What the budget still pays for; what is beyond it is looked at again when that is spent. */
function callsLeft(run: Drive): number {
  const { ledger, settings } = run.log.state.turn ?? {};
  return (settings?.budget?.tools ?? Infinity) - (ledger?.tools ?? 0) - elsewhere(run).tools;
}

async function runCall(call: OpenCall, reserved: Ledger, run: Drive): Promise<void> {
  if (call.begun) return resumeCall(call, run);
  const tool = await begin(call, run);
  // From here on the log counts it.
  reserved.tools = Math.max(0, reserved.tools - 1);
  if (tool) await perform(tool, call, run);
}

/** Null where the call is settled without an effect. */
async function begin(call: OpenCall, run: Drive): Promise<Tool | null> {
  const named = findTool(call.block.name, run);
  if (!named) return refuse(call, failed(`unsupported call: ${call.block.name}`), run);
  const { tool, parsed } = await understand(named, call);
  if (parsed.kind === "problem") return refuse(call, failed(`${call.block.name}: ${parsed.message}`), run);
  const spent = overBudget(run);
  if (spent) return refuse(call, declined(spent, tool, parsed.args), run);
  const planned = { callId: call.callId, tool, args: parsed.args };
  const admitted = await judge(planned, run);
  // Stopped in the middle: the call stays open, and the end of the turn settles it.
  if (run.signal.aborted) return null;
  if (admitted.kind === "declined") return refuse(call, declined(admitted.reason, tool, parsed.args), run);
  await run.log.write({
    type: "tool.begun",
    callId: call.callId,
    name: tool.name,
    args: admitted.args as Json,
    incarnation: placeOf(call, run).incarnation,
    onResume: tool.onResume,
    ...(tool.makesNamed && run.family && { makes: run.family.newId() }),
    mcp: tool.mcp,
  });
  return tool;
}

async function refuse(call: OpenCall, outcome: Outcome, run: Drive): Promise<null> {
  await settle(call, outcome, run);
  return null;
}

function overBudget(run: Drive): string | null {
  if (callsLeft(run) > 0) return null;
  return `the budget of ${run.log.state.turn?.settings.budget?.tools} tool calls is spent`;
}

/** Hooks first: what they rewrite is judged as it will run. */
async function judge(planned: PlannedCall, run: Drive): Promise<Admission> {
  const { guard, log, hooks } = run;
  const settings = log.state.turn?.settings;
  if (!settings) throw new Error(`${planned.tool.name} was called outside a turn`);
  const admitted: Admission = (await hooks?.admit(planned, run)) ?? { kind: "admitted", args: planned.args };
  if (admitted.kind === "declined") return admitted;
  const verdict = await guard.admit({ name: planned.tool.name, args: admitted.args }, settings);
  if (verdict.kind === "allowed") return admitted;
  if (verdict.kind === "declined") return verdict;
  return seekApproval({ ...planned, args: admitted.args }, verdict, run);
}

const declined = (reason: string, { mcp }: Tool, args: unknown): Outcome => ({
  status: "declined",
  parts: [textPart(reason)],
  reason,
  detail: mcp
    ? { kind: "mcp", ...mcp, arguments: args as Json, result: null, error: reason, durationMs: 0 }
    : { kind: "none" },
});

/**
 * Same incarnation: the process is still known by its id and is joined. Another: only what may be repeated is, or what
 * finds by its id what it made.
 * An MCP server knows no ids of ours, so there is nothing to join.
 */
async function resumeCall(call: OpenCall, run: Drive): Promise<void> {
  const tool = call.begun && findTool(call.begun.name, run);
  const joinable = call.begun?.incarnation === placeOf(call, run).incarnation && !tool?.mcp;
  const repeatable = call.begun?.onResume === "rerun" || call.begun?.makes !== undefined || joinable;
  return tool && repeatable ? perform(tool, call, run) : settle(call, interrupted(call), run);
}

async function perform(tool: Tool, call: OpenCall, run: Drive): Promise<void> {
  const { toolLimitMs, outputTokens, signal, log } = run;
  const workspace = placeOf(call, run);
  const makes = call.begun?.makes;
  const context = { callId: call.callId, workspace, state: log.state, toolLimitMs, outputTokens, signal, makes, run };
  const outcome = await tool.run(call.begun?.args, context).catch(orLost);
  if (signal.aborted) return settle(call, stopped(outcome), run);
  const done = { callId: call.callId, tool, args: call.begun?.args };
  return settle(call, (await run.hooks?.settled(done, outcome, run)) ?? outcome, run);
}

/** What was approved to leave the sandbox acts outside of it, and so does whoever talks to it afterwards. */
function placeOf({ callId, begun }: OpenCall, { workspace, outside, log }: Drive): Workspace {
  const args = begun?.name === "write_stdin" ? (begun.args as { session_id?: number }) : {};
  const session = log.state.sessions.get(args.session_id ?? -1);
  const isOutside = session ? session.outside : findOpenCall(log.state, callId)?.approval?.outside;
  return isOutside ? (outside ?? workspace) : workspace;
}

/** By name: the workspace is a package the engine does not know. */
function orLost(error: unknown): Outcome {
  if (error instanceof Error && error.name === "WorkspaceLost") return lost(error.message);
  throw error;
}

const settle = (call: OpenCall, outcome: Outcome, { log }: Drive): Promise<void> =>
  log.write({ type: "tool.settled", callId: call.callId, outcome });

/** A shell command that is nothing but a patch is a patch: models write both. */
async function understand(tool: Tool, call: OpenCall): Promise<{ tool: Tool; parsed: Parsed }> {
  const parsed = await tool.parse(call.block.input, call.block.form);
  if (tool.name !== "exec_command" || parsed.kind === "problem") return { tool, parsed };
  const { cmd, workdir } = parsed.args as { cmd: string; workdir?: string };
  const embedded = readEmbeddedPatch(cmd);
  if (!embedded) return { tool, parsed };
  const args = { input: embedded.patch, workdir: embedded.workdir ?? workdir };
  return { tool: applyPatch, parsed: { kind: "arguments", args } };
}

const findTool = (name: string, { tools }: Drive): Tool | undefined => tools.find((tool) => tool.name === name);
