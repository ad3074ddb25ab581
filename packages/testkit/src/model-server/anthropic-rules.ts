// What the Anthropic Messages wire refuses, so that a request which the real server would refuse fails here too.
import { z } from "zod";
import { signatureOf } from "./anthropic.ts";

/** The reason why the real server would refuse the request, in its words; undefined for a valid one. */
export function refusalOf(headers: Record<string, unknown>, body: unknown): string | undefined {
  if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
  const parsed = Body.safeParse(body);
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return thinkingRefusal(parsed.data) ?? cacheRefusal(body) ?? orderRefusal(parsed.data.messages);
}

const Cache = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() }).optional();

const Text = z.strictObject({
  type: z.literal("text"),
  text: z.string().regex(/\S/, "text content blocks must be non-empty"),
  cache_control: Cache,
});

const Image = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: z.base64().min(1),
    }),
    z.strictObject({ type: z.literal("url"), url: z.string() }),
  ]),
  cache_control: Cache,
});

const ContentBlock = z.discriminatedUnion("type", [
  Text,
  Image,
  z.strictObject({
    type: z.literal("thinking"),
    thinking: z.string(),
    signature: z.string().min(1, "Field required"),
  }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.strictObject({
    type: z.literal("tool_use"),
    id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    input: z.record(z.string(), z.unknown()),
    cache_control: Cache,
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    content: z.array(z.discriminatedUnion("type", [Text, Image])).optional(),
    is_error: z.boolean().optional(),
    cache_control: Cache,
  }),
  z.strictObject({
    type: z.literal("server_tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
]);

const WireMessage = z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(ContentBlock).min(1) });
type WireMessage = z.infer<typeof WireMessage>;

const Body = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  system: z.array(Text).optional(),
  messages: z.array(WireMessage).min(1),
  tools: z.array(z.record(z.string(), z.unknown())).min(1).optional(),
  tool_choice: z.strictObject({ type: z.enum(["auto", "any", "none"]) }).optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
      z.strictObject({
        type: z.literal("enabled"),
        budget_tokens: z.int().min(1024),
        display: z.enum(["summarized", "omitted"]).optional(),
      }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).optional(),
    })
    .optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  stream: z.boolean().optional(),
});

function thinkingRefusal({ thinking, max_tokens, messages }: z.infer<typeof Body>): string | undefined {
  for (const { content } of messages)
    for (const block of content)
      if (block.type === "thinking" && block.signature !== signatureOf(block.thinking))
        return "messages: Invalid `signature` in `thinking` block";
  if (!thinking || thinking.type === "disabled") return undefined;
  if (thinking.type !== "enabled") return undefined;
  if (thinking.budget_tokens >= max_tokens) return "`max_tokens` must be greater than `thinking.budget_tokens`";
  const reply = messages.findLast(({ role }) => role === "assistant");
  const isContinued = messages.at(-1)?.content[0]?.type === "tool_result";
  if (!isContinued || reply?.content[0]?.type.endsWith("thinking")) return undefined;
  return "messages: Expected `thinking` or `redacted_thinking` when `thinking` is enabled";
}

const maxBreakpoints = 4;

function cacheRefusal(body: unknown): string | undefined {
  const found = JSON.stringify(body).split('"cache_control":').length - 1;
  return found > maxBreakpoints
    ? `A maximum of ${maxBreakpoints} blocks with cache_control may be provided. Found ${found}.`
    : undefined;
}

/** Each call is answered at the start of the next message, and nothing else is. */
function orderRefusal(messages: WireMessage[]): string | undefined {
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const open = callsOf(messages[index - 1]);
    const results = message.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    const stray = results.find((id) => !open.includes(id));
    if (stray !== undefined) return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\`: ${stray}`;
    if (open.some((id) => !results.includes(id)))
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
    if (message.content.findLastIndex(({ type }) => type === "tool_result") >= results.length)
      return `messages.${index}: \`tool_result\` blocks must come first in the content`;
    for (const id of callsOf(message)) {
      if (ids.has(id)) return `messages.${index}: \`tool_use\` ids must be unique`;
      ids.add(id);
    }
  }
  return callsOf(messages.at(-1)).length > 0
    ? "messages: the final message has unanswered `tool_use` blocks"
    : undefined;
}

const callsOf = (message: WireMessage | undefined): string[] =>
  (message?.content ?? []).flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
