// Runs the calls of one reply: admit, record, act, record the outcome.

import type { Outcome } from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { interrupted, lost, stopped } from "../abandon-turn.ts";
import { emptyLedger, type Ledger } from "../budget/ledger.ts";
import type { Json } from "../json.ts";
import { readEmbeddedPatch } from "../patch/embedded.ts";
import type { Workspace } from "../ports.ts";
import { spentByOtherAgents, type ThreadRun } from "../running.ts";
import { textPart } from "../state/messages.ts";
import { findOpenCall, type OpenCall } from "../state/state.ts";
import type { Admission, PlannedCall } from "../thread-hooks.ts";
import { applyPatch } from "../tools/apply-patch.ts";
import { failed, type Parsed, type Tool, type ToolContext } from "../tools/tool.ts";
import { approvedWorkspace } from "./approved-workspace.ts";

// A model may request hundreds of commands at once; the machine must stay usable.
const maxConcurrent = 32;

/** Parallel calls run concurrently; a call that is not parallel waits for those before it and runs alone. */
export async function runCalls(calls: OpenCall[], run: ThreadRun): Promise<void> {
  const mayShare = (call: OpenCall) => findTool(call.block.name, run)?.parallel ?? true;
  const alone = calls.findIndex((call) => !mayShare(call));
  const size = Math.min(maxConcurrent, alone === -1 ? calls.length : alone, callsLeft(run));
  const batch = calls.slice(0, Math.max(1, size));
  const fresh = batch.filter(({ begun }) => !begun).length;
  const reserved = { ...emptyLedger(), tools: Math.min(fresh, Math.max(0, callsLeft(run))) };
  run.reservations.set(run.log.state.threadId, reserved);
  const results = await Promise.allSettled(batch.map((call) => runCall(call, reserved, run)));
  run.reservations.delete(run.log.state.threadId);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** Calls that the budget still allows; the others are decided when these are done. */
function callsLeft(run: ThreadRun): number {
  const { ledger, settings } = run.log.state.turn ?? {};
  return (settings?.budget?.tools ?? Infinity) - (ledger?.tools ?? 0) - spentByOtherAgents(run).tools;
}

async function runCall(call: OpenCall, reserved: Ledger, run: ThreadRun): Promise<void> {
  if (call.begun) return resumeCall(call, run);
  const admitted = await begin(call, run);
  // The log counts it from here on.
  reserved.tools = Math.max(0, reserved.tools - 1);
  // Aborted since: the end of the turn settles it too.
  if (admitted && !run.signal.aborted) await perform(admitted, call, run);
}

interface AdmittedCall {
  tool: Tool;
  /** For the model, with the outcome. A call that is repeated after a crash has none. */
  notes?: string[] | undefined;
}

/** Null if the call is settled without running. */
async function begin(call: OpenCall, run: ThreadRun): Promise<AdmittedCall | null> {
  const named = findTool(call.block.name, run);
  if (!named) return refuse(call, await unsupported(call.block.name, run), run);
  const { tool, parsed } = await parseCall(named, call);
  if (parsed.kind === "problem") return refuse(call, failed(`${call.block.name}: ${parsed.message}`), run);
  const spent = overBudget(run);
  if (spent) return refuse(call, declined(spent, tool, parsed.args), run);
  const planned = { callId: call.callId, tool, args: parsed.args };
  const admitted = await admit(planned, run);
  // Aborted: the call stays open, and the end of the turn settles it.
  if (run.signal.aborted) return null;
  if (admitted.kind === "declined") return refuse(call, declined(admitted.reason, tool, parsed.args), run);
  await run.log.write({
    type: "tool.begun",
    callId: call.callId,
    name: tool.name,
    args: admitted.args as Json,
    incarnation: workspaceFor(call, run).incarnation,
    onResume: tool.onResume,
    ...(tool.createsWithId && run.subagents && { makes: run.subagents.newId() }),
    mcp: tool.mcp,
  });
  return { tool, notes: [...(parsed.notes ?? []), ...(admitted.notes ?? [])] };
}

async function unsupported(name: string, { tools }: ThreadRun): Promise<Outcome> {
  const { similarNames } = await import("../tools/similar-names.ts");
  const names = tools.map((tool) => tool.name);
  const similar = similarNames(name, names);
  const hint = similar.length > 0 ? `Nearest tools: ${similar.join(", ")}.` : `Available tools: ${names.join(", ")}.`;
  const outcome = failed(`unsupported call: ${name}`);
  return { ...outcome, parts: [textPart(`${outcome.reason}\n${hint}`)] };
}

async function refuse(call: OpenCall, outcome: Outcome, run: ThreadRun): Promise<null> {
  await settle(call, outcome, run);
  return null;
}

function overBudget(run: ThreadRun): string | null {
  if (callsLeft(run) > 0) return null;
  return `the budget of ${run.log.state.turn?.settings.budget?.tools} tool calls is spent`;
}

/** Hooks first: the guard judges the call as it will run. */
async function admit(planned: PlannedCall, run: ThreadRun): Promise<Admission> {
  const { guard, log, hooks } = run;
  const settings = log.state.turn?.settings;
  if (!settings) throw new Error(`${planned.tool.name} was called outside a turn`);
  const admitted: Admission = (await hooks?.admit(planned, run)) ?? { kind: "admitted", args: planned.args };
  if (admitted.kind === "declined") return admitted;
  const verdict = await guard.admit({ name: planned.tool.name, args: admitted.args }, settings);
  if (verdict.kind === "allowed") return admitted;
  if (verdict.kind === "declined") return verdict;
  const { requestApproval } = await import("./approval.ts");
  return requestApproval({ ...planned, args: admitted.args }, verdict, run);
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
 * In the same incarnation the process still exists under its id and is re-attached. In another one only repeatable
 * calls are repeated, and calls that create something under a known id.
 * An MCP server does not know process ids, so there is nothing to re-attach to.
 */
async function resumeCall(call: OpenCall, run: ThreadRun): Promise<void> {
  const tool = call.begun && findTool(call.begun.name, run);
  const attachable = call.begun?.incarnation === workspaceFor(call, run).incarnation && !tool?.mcp;
  const repeatable = call.begun?.onResume === "rerun" || call.begun?.makes !== undefined || attachable;
  return tool && repeatable ? perform({ tool }, call, run) : settle(call, interrupted(call), run);
}

async function perform({ tool, notes }: AdmittedCall, call: OpenCall, run: ThreadRun): Promise<void> {
  const { signal } = run;
  const outcome = withNotes(await tool.run(call.begun?.args, contextFor(call, run)).catch(orLost), notes);
  if (signal.aborted) return settle(call, stopped(outcome), run);
  const done = { callId: call.callId, tool, args: call.begun?.args };
  return settle(call, (await run.hooks?.settled(done, outcome, run)) ?? outcome, run);
}

/** At the end of the text: programs read the beginning. */
function withNotes(outcome: Outcome, notes: string[] = []): Outcome {
  if (notes.length === 0) return outcome;
  const note = notes.map((each) => `[note: ${each}]`).join("\n");
  const last = outcome.parts.at(-1);
  if (last?.type !== "text") return { ...outcome, parts: [...outcome.parts, textPart(note)] };
  const text = last.text.endsWith("\n") ? `${last.text}${note}` : `${last.text}\n${note}`;
  return { ...outcome, parts: [...outcome.parts.slice(0, -1), textPart(text)] };
}

function contextFor(call: OpenCall, run: ThreadRun): ToolContext {
  const { toolTimeoutMs, toolOutputTokens, signal, log, wait, approver, subagents } = run;
  return {
    callId: call.callId,
    workspace: workspaceFor(call, run),
    state: log.state,
    toolTimeoutMs,
    outputTokens: toolOutputTokens,
    signal,
    createdId: call.begun?.makes,
    onProgress: (progress) => run.onProgress(progress),
    wait,
    user: approver,
    subagents,
  };
}

/** A call approved to leave the sandbox runs outside of it, and so does later input to its process. */
function workspaceFor({ callId, begun }: OpenCall, { workspace, unsandboxedWorkspace, log }: ThreadRun): Workspace {
  const args =
    begun?.name === "write_stdin" || begun?.name === "kill_session" ? (begun.args as { session_id?: number }) : {};
  const session = log.state.backgroundProcesses.get(args.session_id ?? -1);
  const isOutside = session ? session.outside : findOpenCall(log.state, callId)?.approval?.outside;
  return isOutside ? approvedWorkspace(unsandboxedWorkspace ?? workspace) : workspace;
}

function orLost(error: unknown): Outcome {
  if (error instanceof WorkspaceLost) return lost(error.message);
  throw error;
}

const settle = (call: OpenCall, outcome: Outcome, { log }: ThreadRun): Promise<void> =>
  log.write({ type: "tool.settled", callId: call.callId, outcome });

/** Models also pass patches to a shell: a command that is only a patch is run as one. */
async function parseCall(tool: Tool, call: OpenCall): Promise<{ tool: Tool; parsed: Parsed }> {
  const parsed = await tool.parse(call.block.input, call.block.form);
  if (tool.name !== "exec_command" || parsed.kind === "problem") return { tool, parsed };
  const { cmd, workdir } = parsed.args as { cmd: string; workdir?: string };
  const embedded = readEmbeddedPatch(cmd);
  if (!embedded) return { tool, parsed };
  const args = { input: embedded.patch, workdir: embedded.workdir ?? workdir };
  return { tool: applyPatch, parsed: { kind: "arguments", args } };
}

const findTool = (name: string, { tools }: ThreadRun): Tool | undefined => tools.find((tool) => tool.name === name);
