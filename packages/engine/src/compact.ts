// Performs a compaction: asks for the summary and writes it down; the turn goes on from there.

import { boundedSummary, compactionRequest } from "./compaction.ts";
import type { ModelReply } from "./ports.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";
import type { Drive } from "./running.ts";
import { lastMessage, type ThreadState } from "./state.ts";

const mostAttempts = 4;

export const canCompact = (state: ThreadState): boolean => state.repliesSinceCompaction > 0;

export async function compact(run: Drive): Promise<void> {
  const { log, signal } = run;
  await run.hooks?.compaction("before", run);
  if (log.state.turn?.hooks.halted) return;
  const reply = await askForSummary(run);
  if (signal.aborted) return;
  if (reply.kind === "fault") return log.write(failedTurn(log.state, reply.fault));
  const summary = lastMessage(reply.blocks);
  if (summary === null) {
    const message = "The model gave no summary when the history had to be shortened.";
    return log.write(failedTurn(log.state, { code: "context_window", message }));
  }
  await log.write({
    type: "context.compacted",
    upTo: log.state.seq,
    summary: boundedSummary(summary, log.state.turn?.settings.compactAt),
    ...charged(reply, run),
  });
  return run.hooks?.compaction("after", run);
}

/** Where even this request is too long for the model, it is halved and asked again. */
async function askForSummary(run: Drive): Promise<ModelReply> {
  const { log } = run;
  const full = requestFor(log.state, run);
  let room = log.state.turn?.settings.compactAt ?? log.state.tokens;
  for (let attempt = 1; ; attempt += 1) {
    const shortened = compactionRequest(full, log.state.frozen.context, room);
    // The summary is for the model alone: nobody is shown how it is written.
    const reply = await request(shortened, { ...run, onProgress() {} });
    const tooLong = reply.kind === "fault" && reply.fault.code === "context_window";
    if (!tooLong || attempt === mostAttempts) return reply;
    room = Math.floor(room / 2);
  }
}
