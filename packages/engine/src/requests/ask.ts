// One request to the model and its result: a reply, a compaction, or the end of the turn.

import type { Block } from "@agentcli/protocol";
import type { Log } from "../log/log.ts";
import type { ModelFault } from "../ports.ts";
import type { ThreadRun } from "../running.ts";
import { textPart } from "../state/messages.ts";
import { wireStatus } from "../subagents/status.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";

export async function ask(run: ThreadRun): Promise<void> {
  const { log, signal } = run;
  await reportSubagents(run);
  await injectHookContext(log);
  const reply = await request(requestFor(log.state, run.requestOptions), run);
  if (reply.kind === "replied") {
    await log.write({ type: "model.replied", blocks: withUniqueIds(reply.blocks), ...charged(reply, run) });
    return run.hooks?.replied(reply, run);
  }
  if (signal.aborted) return;
  if (reply.fault.code === "context_window" && log.state.repliesSinceCompaction > 0)
    return (await import("./compact.ts")).compact(run);
  if (shouldWait(reply.fault, run)) return waitFor(reply.fault, run);
  return log.write(failedTurn(log.state, reply.fault));
}

/** Waits for a provider that says when to retry, if the user chose so (`onLimit`). Nothing of the thread is lost. */
const shouldWait = ({ code, retryAfterMs }: ModelFault, { log }: ThreadRun): boolean =>
  (code === "rate_limited" || code === "overloaded") &&
  retryAfterMs !== undefined &&
  log.state.turn?.settings.onLimit === "wait";

/** Some providers keep answering "retry at once". */
const minWaitMs = 1_000;

async function waitFor({ message, retryAfterMs = 0 }: ModelFault, { log, wait, signal }: ThreadRun): Promise<void> {
  const delayMs = Math.max(minWaitMs, retryAfterMs);
  const reason = `${message} Waiting ${Math.ceil(delayMs / 1000)} s.`;
  await log.write({ type: "noted", kind: "retry", data: { attempt: 1, of: 1, delayMs, reason } });
  await wait(delayMs, signal);
}

/** Context from hooks follows the results of the calls it belongs to. */
async function injectHookContext(log: Log): Promise<void> {
  const context = log.state.turn?.hooks.context ?? [];
  if (context.length > 0) await log.write({ type: "input.added", origin: "hook", input: context.map(textPart) });
}

/** Reports sub-agents that ended while the model was not waiting for them. */
async function reportSubagents({ log, subagents }: ThreadRun): Promise<void> {
  const news = Object.entries(subagents?.news() ?? {});
  if (news.length === 0) return;
  const notes = news.map(([id, state]) => JSON.stringify({ agent_path: id, status: wireStatus(state) }));
  const text = notes.map((note) => `<subagent_notification>\n${note}\n</subagent_notification>`).join("\n");
  const sources = news.map(([id]) => id);
  await log.write({ type: "input.added", origin: "agent", input: [textPart(text)], sources });
}

/** Calls of one reply that share an id would receive each other's results. */
function withUniqueIds(blocks: Block[]): Block[] {
  const used = new Set<string>();
  return blocks.map((block) => {
    if (block.type !== "call") return block;
    let wireId = block.wireId;
    for (let number = 2; used.has(wireId); number += 1) wireId = `${block.wireId}_${number}`;
    used.add(wireId);
    return { ...block, wireId };
  });
}
