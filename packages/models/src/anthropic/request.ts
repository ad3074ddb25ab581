// A model request as the body of POST /messages. The same request gives the same bytes.
import type { ModelRequest } from "@agentcli/engine";
import type { ToolSpec } from "@agentcli/protocol";
import type { ModelFacts } from "../catalog.ts";
import { splitContext } from "../context.ts";
import { freeformParameters, withGrammar } from "../freeform.ts";
import { withBreakpoints } from "./breakpoints.ts";
import { conversationOf, textsOf } from "./conversation.ts";
import { thinkingOf } from "./thinking.ts";

export function messagesBody(request: ModelRequest, facts: ModelFacts, continued: object[] = []): object {
  const { maxOutputTokens = facts.maxOutputTokens, tools, webSearch } = request;
  const { rules, conversation } = splitContext(request.messages);
  const texts = textsOf([{ type: "text", text: request.instructions }, ...rules.flat()]);
  const { system, messages } = withBreakpoints(texts, conversationOf(conversation));
  const hasTools = tools.length > 0 || webSearch !== undefined;
  return {
    // What a provider keeps comes first, so that the bytes of a request begin with those of the one before it.
    model: request.model,
    ...(hasTools && { tools: [...tools.map(toolOf), ...searchOf(request)] }),
    ...(system.length > 0 && { system }),
    messages: continued.length > 0 ? [...messages, { role: "assistant", content: continued }] : messages,
    max_tokens: maxOutputTokens,
    ...(hasTools && { tool_choice: { type: request.toolChoice ?? "auto" } }),
    ...thinkingOf(request, facts, maxOutputTokens),
    ...outputOf(request, facts),
    ...(isTier(request.serviceTier) && { service_tier: request.serviceTier }),
    stream: true,
  };
}

function toolOf(tool: ToolSpec): object {
  const { name } = tool;
  if (tool.form === "function") return { name, description: tool.description, input_schema: tool.parameters };
  return { name, description: withGrammar(tool), input_schema: freeformParameters };
}

/** The provider makes the search and includes what it found in its reply. */
function searchOf({ webSearch }: ModelRequest): object[] {
  if (!webSearch) return [];
  const { allowedDomains } = webSearch;
  const filter = allowedDomains.length > 0 ? { allowed_domains: allowedDomains } : {};
  return [{ type: "web_search_20250305", name: "web_search", ...filter }];
}

function outputOf({ effort, outputSchema }: ModelRequest, { thinking }: ModelFacts): object {
  const level = thinking === "adaptive" ? effortLevels[effort ?? ""] : undefined;
  if (!level && !outputSchema) return {};
  const format = outputSchema && { format: { type: "json_schema", schema: outputSchema } };
  return { output_config: { ...(level && { effort: level }), ...format } };
}

const effortLevels: Record<string, string> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

const isTier = (tier: string | undefined): boolean => tier === "auto" || tier === "standard_only";
