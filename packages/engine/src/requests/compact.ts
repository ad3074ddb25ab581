// Performs a compaction: requests a summary and records it; the turn continues from there.

import type { ModelReply } from "../ports.ts";
import type { ThreadRun } from "../running.ts";
import { boundedSummary, compactionRequest } from "../state/compaction.ts";
import { lastMessage } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";
import { charged, failedTurn, request, requestFor } from "./request.ts";

const maxAttempts = 4;

export const canCompact = (state: ThreadState): boolean => state.repliesSinceCompaction > 0;

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
  await log.write({
    type: "context.compacted",
    upTo: log.state.seq,
    summary: boundedSummary(summary, log.state.turn?.settings.compactAt),
    ...charged(reply, run),
  });
  return run.hooks?.compaction("after", run);
}

/** If even this request is too long for the model, its size is halved and it is sent again. */
async function requestSummary(run: ThreadRun): Promise<ModelReply> {
  const { log } = run;
  const full = requestFor(log.state, run.requestOptions);
  let room = log.state.turn?.settings.compactAt ?? log.state.tokens;
  for (let attempt = 1; ; attempt += 1) {
    const shortened = compactionRequest(full, log.state.frozen.context, room);
    // The summary is for the model alone: its progress is not shown.
    const reply = await request(shortened, { ...run, onProgress() {} });
    const tooLong = reply.kind === "fault" && reply.fault.code === "context_window";
    if (!tooLong || attempt === maxAttempts) return reply;
    room = Math.floor(room / 2);
  }
}
