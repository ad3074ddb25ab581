// A model with others that take its place while its provider is overloaded or its quota is used up.
import type { Model, ModelFault, ModelProgress, ModelReply, ModelRequest } from "@agentcli/engine";

export interface FallbackModel {
  /** As the user wrote it. */
  label: string;
  /** As its provider knows it. */
  name: string;
  model: Model;
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
  return [{ label: name, name, model: main }, ...chain.slice(own + 1)];
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
  { model, name, hasNext }: FallbackModel & { hasNext: boolean },
  request: ModelRequest,
  { onProgress, signal }: Listener,
): Promise<ModelReply> {
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
    const reply = await model.reply({ ...request, model: name }, watch, stop.signal);
    return longDelay && reply.kind === "fault" ? { kind: "fault", fault: longDelay } : reply;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
