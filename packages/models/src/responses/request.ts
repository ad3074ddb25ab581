// A model request as the body of POST /responses. The same request gives the same bytes: prompt caches depend on it.
import type { Message, ModelRequest } from "@agentcli/engine";
import type { Block, Part, ToolSpec } from "@agentcli/protocol";
import type { ModelFacts } from "../catalog.ts";
import { samplingOf } from "../sampling.ts";

export function responsesBody(request: ModelRequest, { reasoning }: ModelFacts): object {
  const { effort, reasoningSummary: summary, verbosity, maxOutputTokens, serviceTier } = request;
  return {
    // What a provider keeps comes first, so that the bytes of a request begin with those of the one before it.
    model: request.model,
    instructions: request.instructions,
    tools: [...request.tools.map(toolOf), ...searchOf(request)],
    input: request.messages.flatMap(inputOf),
    tool_choice: request.toolChoice ?? "auto",
    parallel_tool_calls: true,
    // Models without reasoning refuse a request with reasoning options.
    ...(reasoning
      ? { reasoning: { ...(effort && { effort }), ...(summary && summary !== "none" && { summary }) } }
      : {}),
    store: false,
    stream: true,
    include: reasoning ? ["reasoning.encrypted_content"] : [],
    prompt_cache_key: request.cacheKey,
    text: { ...(verbosity && { verbosity }), ...formatOf(request.outputSchema) },
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(serviceTier && { service_tier: serviceTier }),
    ...samplingOf(request),
    client_metadata: { thread_id: request.cacheKey, turn_id: request.turnId },
  };
}

function inputOf(message: Message): object[] {
  if (message.role === "assistant") return message.blocks.flatMap(itemOf);
  if (message.role !== "tool") return [{ type: "message", role: message.role, content: contentOf(message.parts) }];
  const type = message.form === "freeform" ? "custom_tool_call_output" : "function_call_output";
  return [{ type, call_id: message.wireId, output: outputOf(message.parts) }];
}

function itemOf(block: Block): object[] {
  switch (block.type) {
    case "message": {
      const { text, phase } = block;
      return [
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text }],
          ...(phase && { phase }),
        },
      ];
    }
    case "reasoning":
      return reasoningOf(block);
    case "web_search":
      return [
        {
          type: "web_search_call",
          ...(block.wireId && { id: block.wireId }),
          status: "completed",
          action: block.action,
        },
      ];
    case "call": {
      const { wireId: call_id, name, input } = block;
      if (block.form === "freeform") return [{ type: "custom_tool_call", call_id, name, input }];
      return [{ type: "function_call", call_id, name, arguments: input }];
    }
  }
}

// The server stores nothing, so reasoning is sent back: encrypted if it came encrypted, otherwise as text.
function reasoningOf({ summary, text, ...block }: Extract<Block, { type: "reasoning" }>): object[] {
  const { encrypted, signature, wireId } = block;
  // It came from another wire.
  if (signature !== undefined) return [];
  const item = { type: "reasoning", summary: summary.map((part) => ({ type: "summary_text", text: part })) };
  if (encrypted !== undefined) return [{ ...item, ...(wireId && { id: wireId }), encrypted_content: encrypted }];
  return text === undefined
    ? []
    : [{ ...item, ...(wireId && { id: wireId }), content: [{ type: "reasoning_text", text }] }];
}

const outputOf = (parts: Part[]): string | object[] =>
  parts.some((part) => part.type === "image")
    ? contentOf(parts)
    : parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

function contentOf(parts: Part[]): object[] {
  let images = 0;
  return parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "input_text", text: part.text }];
    images += 1;
    const image = { type: "input_image", image_url: part.url, ...(part.detail && { detail: part.detail }) };
    if (part.name === undefined) return [image];
    const opening = `<image name=[Image #${images}] path=${part.name}>`;
    return [{ type: "input_text", text: opening }, image, { type: "input_text", text: "</image>" }];
  });
}

/** The provider makes the search and includes what it found in its reply. */
function searchOf({ webSearch }: ModelRequest): object[] {
  if (!webSearch) return [];
  const { access, allowedDomains } = webSearch;
  const filters = allowedDomains.length > 0 ? { filters: { allowed_domains: allowedDomains } } : {};
  return [{ type: "web_search", external_web_access: access === "live", ...filters }];
}

function toolOf(tool: ToolSpec): object {
  const { name, description } = tool;
  if (tool.form === "function")
    return { type: "function", name, description, strict: false, parameters: tool.parameters };
  const { syntax, definition } = tool.grammar;
  return { type: "custom", name, description, format: { type: "grammar", syntax, definition } };
}

const formatOf = (schema: object | undefined): object =>
  schema ? { format: { type: "json_schema", name: "agent_output_schema", strict: true, schema } } : {};
