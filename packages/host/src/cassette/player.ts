// A model that answers from a recording: the replies of each thread in their order.
import { type FaultCode, type Message, type Model, type ModelReply, type ModelRequest, textOf } from "@agentcli/engine";
import type { Cassette, Exchange } from "./cassette.ts";
import { type Difference, firstDifference } from "./difference.ts";

export interface PlayerOptions {
  cassette: Cassette;
  /** `requests`: a request must equal the recorded one. `prompts`: only the last message of a user must. */
  compare: "requests" | "prompts";
  /** From the first difference on, requests go to the model this returns. Must not throw. */
  onDifference(difference: Difference): Promise<Model>;
}

export function openPlayer({ cassette, compare, onDifference }: PlayerOptions): Model {
  const threads = assignThreads(cassette.exchanges);
  let live: Promise<Model> | null = null;
  return {
    async reply(request, onProgress, signal) {
      const difference = live ? null : differenceOf(request, threads.next(request), compare);
      if (difference) live ??= onDifference(difference);
      if (live) return (await live).reply(request, onProgress, signal);
      return threads.take(request, onProgress);
    },
  };
}

/** Threads of this run have ids of their own; the first request tells which recorded one each of them is. */
function assignThreads(exchanges: Exchange[]) {
  const recorded = new Map<string, Exchange[]>();
  for (const exchange of exchanges) recorded.set(exchange.thread, [...(recorded.get(exchange.thread) ?? []), exchange]);
  const assigned = new Map<string, Exchange[]>();
  const assign = (request: ModelRequest): Exchange[] => {
    const candidates = [...recorded];
    const task = promptOf(request);
    const [id, found] = candidates.find(([, [first]]) => first && promptOf(first.request) === task) ??
      candidates[0] ?? ["", []];
    recorded.delete(id);
    assigned.set(request.cacheKey, found);
    return found;
  };
  const of = (request: ModelRequest) => assigned.get(request.cacheKey) ?? assign(request);
  return {
    next: (request: ModelRequest): Exchange | undefined => of(request)[0],
    take(request: ModelRequest, onProgress: Parameters<Model["reply"]>[1]): ModelReply {
      const exchange = of(request).shift();
      if (!exchange) throw new Error("the recording has no reply left");
      const { reply } = exchange;
      if (reply.kind === "replied") for (const block of reply.blocks) onProgress({ type: "settled", block });
      return reply;
    },
  };
}

function differenceOf(
  now: ModelRequest,
  recorded: Exchange | undefined,
  compare: PlayerOptions["compare"],
): Difference | null {
  if (!recorded) return { field: "requests", recorded: "no further request", now: promptOf(now) };
  if (compare === "prompts") return firstDifference(promptOf(recorded.request), promptOf(now), "prompt");
  return firstDifference(comparable(recorded.request), comparable(now));
}

/** Ids are those of the run; how long a command took is not what it did. */
function comparable({ cacheKey: _, turnId: __, messages, ...rest }: ModelRequest): object {
  return { ...rest, messages: messages.map(withoutTraces) };
}

function withoutTraces(message: Message): Message {
  if (message.role !== "tool") return message;
  const parts = message.parts.map((part) => (part.type === "text" ? { ...part, text: masked(part.text) } : part));
  return { ...message, parts };
}

/** The lines of a report on a command that are different each time. */
const masked = (text: string): string =>
  text.replace(/^Wall time: [\d.]+ seconds$/m, "Wall time: …").replace(/^Chunk ID: \w+$/m, "Chunk ID: …");

/** The last message of a user. In the first request of a thread: its task. */
function promptOf({ messages }: ModelRequest): string {
  const message = messages.findLast(({ role }) => role === "user");
  return message?.role === "user" ? textOf(message.parts) : "";
}

/** Answers every request with this fault. */
export const failingModel = (code: FaultCode, message: string): Model => ({
  reply: async () => ({ kind: "fault", fault: { code, message } }),
});
