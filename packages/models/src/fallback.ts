// A model with others that take its place while its provider is overloaded or its quota is used up.
import {
  estimateRequest,
  type Model,
  type ModelFault,
  type ModelProgress,
  type ModelReply,
  type ModelRequest,
} from "@agentcli/engine";

export interface FallbackModel {
  /** As the user wrote it. */
  label: string;
  /** As its provider knows it. */
  name: string;
  model: Model;
  /** In tokens. Threads are compacted by that of their own model; that of this one may be smaller. */
  contextWindow: number;
}

/** From the failure to the end of the turn the next model is asked; the turn after it begins with the first again. */
export function withFallback(main: Model, chain: FallbackModel[]): Model {
  const threads = new Map<string, { turnId: string; position: number }>();
  return {
    async reply(request, onProgress, signal) {
      const { cacheKey, turnId } = request;
      const candidates = candidatesFor(request, main, chain);
      const before = threads.get(cacheKey);
      let position = before?.turnId === turnId ? before.position : 0;
      for (;;) {
        const current = candidates[position];
        const next = candidates[position + 1];
        if (!current) throw new Error("a chain of models without a model");
        const context = { ...current, hasNext: next !== undefined };
        const reply = await ask(context, request, { onProgress, signal });
        if (reply.kind === "replied" || !next || signal.aborted || !isExhausted(reply.fault)) return reply;
        position += 1;
        threads.set(cacheKey, { turnId, position });
        const { label: instead } = next;
        onProgress({ type: "retrying", attempt: 1, of: 1, delayMs: 0, reason: sentence(reply.fault, next), instead });
      }
    },
  };
}

/** Also for a sub-agent with a model of its own; what stands before its model in the chain is not asked. */
function candidatesFor({ model: name }: ModelRequest, main: Model, chain: FallbackModel[]): FallbackModel[] {
  const own = chain.findIndex((entry) => entry.name === name && entry.model === main);
  return [{ label: name, name, model: main, contextWindow: Infinity }, ...chain.slice(own + 1)];
}

const isExhausted = ({ code, quota }: ModelFault): boolean =>
  code === "overloaded" || code === "rate_limited" || quota === true;

const sentence = ({ message }: ModelFault, { label }: FallbackModel): string =>
  `${message} The model ${label} is asked until the end of the turn (model_fallback).`;

/** A provider that asks for a longer delay is not waited for while there is another model. */
const maxDelayMs = 5_000;

interface Listener {
  onProgress(progress: ModelProgress): void;
  signal: AbortSignal;
}

async function ask(
  { model, name, contextWindow, hasNext }: FallbackModel & { hasNext: boolean },
  original: ModelRequest,
  { onProgress, signal }: Listener,
): Promise<ModelReply> {
  const request = { ...original, model: name };
  const maxTokens = Math.floor(contextWindow * usableShare);
  if (await isTooLong(request, { model, maxTokens, signal })) return tooLong(name, maxTokens);
  const stop = new AbortController();
  let longDelay: ModelFault | undefined;
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const watch = (progress: ModelProgress): void => {
    if (hasNext && progress.type === "retrying" && progress.fault && progress.delayMs > maxDelayMs) {
      longDelay = progress.fault;
      stop.abort();
    } else if (!longDelay) onProgress(progress);
  };
  try {
    const reply = await model.reply(request, watch, stop.signal);
    return longDelay && reply.kind === "fault" ? { kind: "fault", fault: longDelay } : reply;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** As for the model of a thread: the rest is for the reply. */
const usableShare = 0.9;

/** Near the limit the provider is asked, if it counts: an estimate may be wrong by a third. */
async function isTooLong(
  request: ModelRequest,
  { model, maxTokens, signal }: { model: Model; maxTokens: number; signal: AbortSignal },
): Promise<boolean> {
  if (maxTokens === Infinity) return false;
  const estimated = estimateRequest(request);
  if (estimated < maxTokens / 1.5 || estimated > maxTokens * 1.5) return estimated > maxTokens;
  return ((await model.countTokens?.(request, signal)) ?? estimated) > maxTokens;
}

/** The engine compacts the conversation and asks again. */
const tooLong = (name: string, maxTokens: number): ModelReply => ({
  kind: "fault",
  fault: {
    code: "context_window",
    message: `The conversation is longer than the ${maxTokens} tokens that ${name} can be sent (model_fallback).`,
    maxTokens,
  },
});
