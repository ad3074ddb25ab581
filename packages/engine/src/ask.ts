// One request to the model and what it brought: a reply, a shorter history, or the end of the turn.

import type { Block } from "@agentcli/protocol";
import { canCompact, compact } from "./compact.ts";
import type { Log } from "./log.ts";
import type { ModelFault } from "./ports.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";
import type { Drive } from "./running.ts";
import { textPart } from "./state.ts";
import { wireStatus } from "./subagents/status.ts";

export async function ask(run: Drive): Promise<void> {
  const { log, signal } = run;
  await tellNews(run);
  await tellHookContext(log);
  const reply = await request(requestFor(log.state, run), run);
  if (reply.kind === "replied") {
    await log.write({ type: "model.replied", blocks: withOwnIds(reply.blocks), ...charged(reply, run) });
    return run.hooks?.replied(reply, run);
  }
  if (signal.aborted) return;
  if (reply.fault.code === "context_window" && canCompact(log.state)) return compact(run);
  if (worthWaiting(reply.fault, run)) return waitFor(reply.fault, run);
  return log.write(failedTurn(log.state, reply.fault));
}

/** A provider that says when to come back is waited for, where the user said so; the thread loses nothing meanwhile. */
const worthWaiting = ({ code, retryAfterMs }: ModelFault, { log }: Drive): boolean =>
  (code === "rate_limited" || code === "overloaded") &&
  retryAfterMs !== undefined &&
  log.state.turn?.settings.onLimit === "wait";

/** A provider that says "at once" again and again is not stormed. */
const shortestWaitMs = 1_000;

async function waitFor({ message, retryAfterMs = 0 }: ModelFault, { log, wait, signal }: Drive): Promise<void> {
  const delayMs = Math.max(shortestWaitMs, retryAfterMs);
  const reason = `${message} Waiting ${Math.ceil(delayMs / 1000)} s.`;
  await log.write({ type: "noted", kind: "retry", data: { attempt: 1, of: 1, delayMs, reason } });
  await wait(delayMs, signal);
}

/** What hooks had to add comes behind the results of the calls it is about. */
async function tellHookContext(log: Log): Promise<void> {
  const context = log.state.turn?.hooks.context ?? [];
  if (context.length > 0) await log.write({ type: "input.added", origin: "hook", input: context.map(textPart) });
}

/** A sub-agent that has ended is news to a model that did not wait for it. */
async function tellNews({ log, family }: Drive): Promise<void> {
  const news = Object.entries(family?.news() ?? {});
  if (news.length === 0) return;
  const notes = news.map(([id, state]) => JSON.stringify({ agent_path: id, status: wireStatus(state) }));
  const text = notes.map((note) => `<subagent_notification>\n${note}\n</subagent_notification>`).join("\n");
  const sources = news.map(([id]) => id);
  await log.write({ type: "input.added", origin: "agent", input: [textPart(text)], sources });
}

/** Calls of one reply that share an id would get each other's results. */
function withOwnIds(blocks: Block[]): Block[] {
  const taken = new Set<string>();
  return blocks.map((block) => {
    if (block.type !== "call") return block;
    let wireId = block.wireId;
    for (let number = 2; taken.has(wireId); number += 1) wireId = `${block.wireId}_${number}`;
    taken.add(wireId);
    return { ...block, wireId };
  });
}
