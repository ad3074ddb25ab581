// Continues a reply that the server paused, so that the engine sees one reply.
import type { ModelReply } from "@agentcli/engine";
import type { Usage } from "@agentcli/protocol";
import type { RepliedAttempt } from "./failure.ts";

type Reply = RepliedAttempt | Extract<ModelReply, { kind: "fault" }>;

/** A server that pauses for ever has a fault; what it wrote until then is the reply. */
const maxPauses = 10;

export async function continuePaused(ask: (paused?: object[]) => Promise<Reply>): Promise<ModelReply> {
  let reply = await ask();
  for (let pauses = 0; reply.kind === "replied" && reply.paused && pauses < maxPauses; pauses += 1)
    reply = join(reply, reply.paused, await ask(reply.paused));
  if (reply.kind === "fault") return reply;
  const { paused: _, ...whole } = reply;
  return whole;
}

function join(before: RepliedAttempt, paused: object[], next: Reply): Reply {
  if (next.kind === "fault") {
    const usage = next.fault.usage ? addUsage(before.usage, next.fault.usage) : before.usage;
    return { kind: "fault", fault: { ...next.fault, usage } };
  }
  const blocks = [...before.blocks, ...next.blocks];
  return {
    ...next,
    blocks,
    usage: addUsage(before.usage, next.usage),
    ...(next.paused && { paused: [...paused, ...next.paused] }),
  };
}

const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cacheWriteInputTokens: left.cacheWriteInputTokens + right.cacheWriteInputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  reasoningOutputTokens: left.reasoningOutputTokens + right.reasoningOutputTokens,
});
