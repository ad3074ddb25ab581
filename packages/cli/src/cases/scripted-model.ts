// A model that answers with the replies of a test case, in their order, for each thread.
import { estimateMessage, estimateText, type Model, type ModelRequest } from "@agentcli/engine";
import type { Block, Usage } from "@agentcli/protocol";
import type { Replies, ScriptedCall, ScriptedReply } from "./case.ts";
import { shortened } from "./fields.ts";

export interface ScriptedModel extends Model {
  /** Why the script does not fit the run; null if every reply was used, and none was missing. */
  mismatch(): string | null;
}

/** `roleOf` answers with the role of a sub-agent; null for the main thread. */
export function scriptedModel(
  { main, agents }: Extract<Replies, { kind: "script" }>,
  roleOf: (threadId: string) => string | null,
): ScriptedModel {
  const left = new Map<string | null, ScriptedReply[]>([[null, [...main]]]);
  for (const [role, replies] of agents) left.set(role, [...replies]);
  let answered = 0;
  let ranOut: string | null = null;
  return {
    async reply(request, onProgress) {
      const role = roleOf(request.cacheKey);
      const reply = left.get(role)?.shift();
      if (!reply) {
        ranOut = noReply(role, request);
        return { kind: "fault", fault: { code: "protocol", message: ranOut } };
      }
      answered += 1;
      const blocks = blocksOf(reply, request, answered);
      for (const block of blocks) onProgress({ type: "settled", block });
      return { kind: "replied", blocks, usage: usageOf(request, blocks), model: request.model };
    },
    mismatch: () => {
      if (ranOut !== null) return ranOut;
      const [unused] = [...left].filter(([, replies]) => replies.length > 0);
      if (!unused) return null;
      const [role, [first, ...more]] = unused;
      const others = more.length > 0 ? ` and ${more.length} more` : "";
      return `the model was not asked for the reply in line ${first?.line}${others}${role === null ? "" : ` (agent ${role})`}`;
    },
  };
}

function noReply(role: string | null, { messages }: ModelRequest): string {
  const last = messages.at(-1);
  const asked =
    last && "parts" in last ? last.parts.flatMap((part) => (part.type === "text" ? part.text : [])).join(" ") : "";
  const list = role === null ? "model" : `agents.${role}`;
  return `the model was asked again, and ${list} has no reply left. It was given: ${shortened(asked, 200)}`;
}

function blocksOf({ message, calls }: ScriptedReply, request: ModelRequest, answered: number): Block[] {
  return [
    ...(message === undefined ? [] : [{ type: "message" as const, text: message }]),
    ...calls.map((call, index) => callBlock(call, request, `call_${answered}_${index}`)),
  ];
}

/** Freeform tools get the text itself; as a function the same tool has one argument for it. */
function callBlock({ tool, input }: ScriptedCall, { tools }: ModelRequest, wireId: string): Block {
  const isFreeform = tools.some(({ name, form }) => name === tool && form === "freeform");
  if (typeof input === "string" && isFreeform) return { type: "call", wireId, name: tool, form: "freeform", input };
  const args = typeof input === "string" ? { input } : input;
  return { type: "call", wireId, name: tool, form: "function", input: JSON.stringify(args) };
}

/** As the engine estimates sizes: a budget can be tested without a provider. */
function usageOf({ instructions, messages, tools }: ModelRequest, blocks: Block[]): Usage {
  const asked = messages.reduce((sum, message) => sum + estimateMessage(message), estimateText(instructions));
  return {
    inputTokens: asked + estimateText(JSON.stringify(tools)),
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: estimateMessage({ role: "assistant", blocks }),
    reasoningOutputTokens: 0,
  };
}
