// What the model is asked, and the asking itself with every retry written down.
import type { ThreadRecord, Usage } from "@agentcli/protocol";
import { outputCap } from "./budget.ts";
import type { Message, ModelFault, ModelReply, ModelRequest } from "./ports.ts";
import type { Drive } from "./running.ts";
import type { ThreadState } from "./state.ts";

/** The bytes of a request depend on the log alone: a resumed thread asks the same and meets a warm prompt cache. */
export function requestFor(state: ThreadState, { requestOptions }: Pick<Drive, "requestOptions">): ModelRequest {
  const settings = state.turn?.settings;
  return {
    model: settings?.model ?? "",
    instructions: state.frozen.instructions,
    messages: [...(state.frozen.context as Message[]), ...state.messages],
    tools: state.frozen.tools,
    effort: settings?.effort,
    maxOutputTokens:
      settings?.budget && state.turn ? outputCap(settings.budget, state.turn.ledger, state.tokens) : undefined,
    cacheKey: state.threadId,
    turnId: state.turn?.turnId ?? "",
    ...requestOptions,
  };
}

/** Asks, and writes each retry down while it happens. */
export async function request(modelRequest: ModelRequest, run: Drive): Promise<ModelReply> {
  const notes: Promise<void>[] = [];
  const reply = await run.model.reply(
    modelRequest,
    (progress) => {
      if (progress.type === "retrying") {
        const { attempt, of, delayMs, reason } = progress;
        notes.push(run.log.write({ type: "noted", kind: "retry", data: { attempt, of, delayMs, reason } }));
      }
      run.onProgress(progress);
    },
    run.signal,
  );
  await Promise.all(notes);
  return reply;
}

/** What a reply cost, as its record keeps it. */
export const charged = ({ usage, model }: { usage: Usage; model: string }, { price }: Drive) => ({
  usage,
  model,
  costUsd: price(model, usage),
});

export const failedTurn = (state: ThreadState, fault: ModelFault): ThreadRecord => ({
  type: "turn.ended",
  turnId: state.turn?.turnId ?? "",
  end: {
    status: "failed",
    code: fault.code,
    message: fault.message,
    limit: fault.limit,
    retryAfterSeconds: fault.retryAfterMs === undefined ? undefined : Math.ceil(fault.retryAfterMs / 1000),
  },
});
