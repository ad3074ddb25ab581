// Requests to the model; every retry is noted in the log.
import type { ThreadRecord, Usage } from "@agentcli/protocol";
import { outputCap } from "../budget/ledger.ts";
import type { Log } from "../log/log.ts";
import type {
  HostedSearch,
  Message,
  Model,
  ModelFault,
  ModelProgress,
  ModelReply,
  ModelRequest,
  NamedModel,
} from "../ports.ts";
import type { ThreadState } from "../state/state.ts";

export interface RequestOptions {
  reasoningSummary?: string;
  verbosity?: string;
  serviceTier?: string;
  outputSchema?: object;
  webSearch?: HostedSearch;
}

/** The parts of a thread that a model request needs. */
export interface ModelAccess {
  model: Model;
  /** Opens a model by its name, at its provider. Throws if it cannot be used. Absent: `model` knows all names. */
  openModel?: ((name: string) => Promise<NamedModel>) | undefined;
  log: Log;
  /** USD for this usage, or null if the price is not known. */
  costOf(model: string, usage: Usage): number | null;
  onProgress(progress: ModelProgress): void;
  signal: AbortSignal;
}

/** The bytes of a request depend on the log alone: a resumed thread sends the same and hits the prompt cache. */
export function requestFor(state: ThreadState, requestOptions: RequestOptions): ModelRequest {
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

export async function request(modelRequest: ModelRequest, run: ModelAccess): Promise<ModelReply> {
  const notes: Promise<void>[] = [];
  const reply = await run.model.reply(
    modelRequest,
    (progress) => {
      if (progress.type === "retrying") notes.push(run.log.write(retryNote(progress)));
      run.onProgress(progress);
    },
    run.signal,
  );
  await Promise.all(notes);
  return reply;
}

function retryNote({ attempt, of, delayMs, reason, instead }: Retrying): ThreadRecord {
  if (instead === undefined) return { type: "noted", kind: "retry", data: { attempt, of, delayMs, reason } };
  return { type: "noted", kind: "warning", data: { message: reason, about: "model" } };
}

type Retrying = Extract<ModelProgress, { type: "retrying" }>;

/** The cost of a reply, as records keep it. */
export const charged = (
  { usage, model }: { usage: Usage; model: string },
  { costOf }: Pick<ModelAccess, "costOf">,
) => ({
  usage,
  model,
  costUsd: costOf(model, usage),
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
