// A model request as the body of POST /chat/completions. The same request gives the same bytes.
import type { Message, ModelRequest } from "@agentcli/engine";
import type { Block, CallBlock, Part, ToolSpec } from "@agentcli/protocol";
import { splitContext } from "../context.ts";
import { freeformParameters, withGrammar } from "../freeform.ts";
import { samplingOf } from "../sampling.ts";

export function chatBody(request: ModelRequest): object {
  const { effort, verbosity, maxOutputTokens, outputSchema, tools, serviceTier } = request;
  return {
    // What a provider keeps comes first, so that the bytes of a request begin with those of the one before it.
    model: request.model,
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    messages: messagesOf(request),
    ...(tools.length > 0 && { tool_choice: request.toolChoice ?? "auto", parallel_tool_calls: true }),
    ...(effort && { reasoning_effort: effort }),
    ...(verbosity && { verbosity }),
    ...(serviceTier && { service_tier: serviceTier }),
    ...(outputSchema && {
      response_format: {
        type: "json_schema",
        json_schema: { name: "agent_output_schema", strict: true, schema: outputSchema },
      },
    }),
    ...(maxOutputTokens !== undefined && { [tokenLimitName(request.model)]: maxOutputTokens }),
    ...samplingOf(request),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/**
 * Chat templates of many open models allow only one system message, at the start. Rules that come later stay in their
 * place, as messages of the user: a changed start would not be found in the prompt cache.
 */
function messagesOf({ instructions, messages }: ModelRequest): object[] {
  const { rules, conversation } = splitContext(messages);
  const system = [instructions, ...rules.map(textOf)].filter((part) => part !== "").join("\n\n");
  return [{ role: "system", content: system }, ...conversationOf(conversation)];
}

function conversationOf(messages: Message[]): object[] {
  const conversation: object[] = [];
  // Tool messages cannot hold images on this wire and must be contiguous: images follow in a user message.
  let images: Part[] = [];
  const showImages = (): void => {
    if (images.length > 0) conversation.push({ role: "user", content: contentOf(images) });
    images = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") showImages();
    if (message.role === "user" || message.role === "developer")
      conversation.push({ role: "user", content: contentOf(message.parts) });
    if (message.role === "assistant") conversation.push(...assistantOf(message.blocks));
    if (message.role !== "tool") continue;
    conversation.push({ role: "tool", tool_call_id: message.wireId, content: toolText(message.parts) });
    images.push(...message.parts.filter((part) => part.type === "image"));
  }
  showImages();
  return conversation;
}

function assistantOf(blocks: Block[]): object[] {
  const message = blocks.flatMap((block) => (block.type === "message" ? [block.text] : [])).join("\n\n");
  const calls = blocks.flatMap((block) => (block.type === "call" ? [callOf(block)] : []));
  if (message === "" && calls.length === 0) return [];
  return [{ role: "assistant", content: message || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

const callOf = ({ wireId, name, form, input }: CallBlock): object => ({
  id: wireId,
  type: "function",
  function: { name, arguments: form === "freeform" ? JSON.stringify({ input }) : input },
});

const textOf = (parts: Part[]): string => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

function toolText(parts: Part[]): string {
  const words = textOf(parts);
  return words === "" && parts.length > 0 ? "The image follows." : words;
}

function contentOf(parts: Part[]): string | object[] {
  if (parts.every((part) => part.type === "text")) return textOf(parts);
  return parts.flatMap((part): object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const detail = part.detail === "original" ? "high" : part.detail;
    const image = { type: "image_url", image_url: { url: part.url, ...(detail && { detail }) } };
    return part.name === undefined ? [image] : [{ type: "text", text: `Image ${part.name}:` }, image];
  });
}

function toolOf(tool: ToolSpec): object {
  const { name } = tool;
  const offered =
    tool.form === "function"
      ? { name, description: tool.description, parameters: tool.parameters }
      : { name, description: withGrammar(tool), parameters: freeformParameters };
  return { type: "function", function: offered };
}

// Reasoning models of OpenAI refuse max_tokens; most other servers know only that name.
const tokenLimitName = (model: string): string =>
  /(^|\/)(gpt-[5-9]|o\d)/.test(model) ? "max_completion_tokens" : "max_tokens";
