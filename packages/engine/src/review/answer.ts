// The final message of a review: any answer is accepted and turned into text.
import type { Answer } from "../answer/answer.ts";
import { lastMessage } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";
import type { Review } from "./findings.ts";
import { readReview } from "./read.ts";
import { renderReview } from "./render.ts";

export const reviewAnswer = (coverage: string | null): Answer => ({
  check: async (message) => ({ ok: true, message: renderReview(readReview(message), coverage) }),
});

/** The findings of the newest turn, read from the log; of a turn without a reply, from its end. */
export function findingsOf(state: ThreadState): Review {
  const last = state.messages.at(-1);
  const message = last?.role === "assistant" ? lastMessage(last.blocks) : null;
  return readReview(message ?? (state.end?.status === "completed" ? state.end.message : ""));
}
