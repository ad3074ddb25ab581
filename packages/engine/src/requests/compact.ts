// Performs a compaction: requests a summary and records it; the turn continues from there.

import { addUsage } from "../budget/charges.ts";
import type { ModelReply, ModelRequest } from "../ports.ts";
import type { ThreadRun } from "../running.ts";
import { lastMessage } from "../state/messages.ts";
import { restate } from "../state/restate.ts";
import { estimateRequest } from "../state/tokens.ts";
import { boundedSummary, shortCompactionRequest, wholeCompactionRequest } from "./compaction-request.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";

const maxAttempts = 4;

export async function compact(run: ThreadRun): Promise<void> {
  const { log, signal } = run;
  await run.hooks?.compaction("before", run);
  if (log.state.turn?.hooks.halted) return;
  const reply = await requestSummary(run);
  if (signal.aborted) return;
  if (reply.kind === "fault") return log.write(failedTurn(log.state, reply.fault));
  const summary = lastMessage(reply.blocks);
  if (summary === null) {
    const message = "The model gave no summary when the history had to be shortened.";
    return log.write(failedTurn(log.state, { code: "context_window", message }));
  }
  const restated = restate(log.state, run.subagents?.overview() ?? []);
  await log.write({
    type: "context.compacted",
    upTo: log.state.seq,
    summary: boundedSummary(summary, log.state.turn?.settings.compactAt),
    ...(restated && { restated }),
    ...charged(reply, run),
  });
  return run.hooks?.compaction("after", run);
}

/** If even this request is too long for the model, its size is halved and it is sent again. */
async function requestSummary(run: ThreadRun): Promise<ModelReply> {
  const { log, compactionPrompt: prompt } = run;
  const { frozen, tokens, turn } = log.state;
  const full = requestFor(log.state, run.requestOptions);
  let room = turn?.settings.compactAt ?? tokens;
  // The limit is nine tenths of the window, or less.
  const whole = wholeCompactionRequest(full, prompt);
  let next = Math.max(tokens, estimateRequest(whole)) < room / 0.9 ? whole : null;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await send(next ?? shortCompactionRequest(full, { context: frozen.context, room, prompt }), run);
    const tooLong = reply.kind === "fault" && reply.fault.code === "context_window";
    if (!tooLong || attempt === maxAttempts) return reply;
    if (reply.fault.maxTokens !== undefined) room = Math.min(room, reply.fault.maxTokens);
    else if (next === null || turn?.settings.compactAt === undefined) room = Math.floor(room / 2);
    next = null;
  }
}

/** Some models answer with calls despite `toolChoice`: the request is repeated without tools. */
async function send(modelRequest: ModelRequest, run: ThreadRun): Promise<ModelReply> {
  // The summary is for the model alone: its progress is not shown.
  const hidden = { ...run, onProgress() {} };
  const first = await request(modelRequest, hidden);
  if (first.kind === "fault" || lastMessage(first.blocks) !== null) return first;
  const second = await request({ ...modelRequest, tools: [] }, hidden);
  return second.kind === "fault" ? second : { ...second, usage: addUsage(first.usage, second.usage) };
}
