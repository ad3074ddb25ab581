// A model request as the body of POST /messages. The same request gives the same bytes.
import type { ModelRequest } from "@agentcli/engine";
import type { ToolSpec } from "@agentcli/protocol";
import { modelFacts } from "../catalog.ts";
import { splitContext } from "../context.ts";
import { freeformParameters, withGrammar } from "../freeform.ts";
import { withBreakpoints } from "./breakpoints.ts";
import { conversationOf, textsOf } from "./conversation.ts";
import { thinkingOf } from "./thinking.ts";

export function messagesBody(request: ModelRequest, continued: object[] = []): object {
  const { maxOutputTokens = modelFacts(request.model, "anthropic").maxOutputTokens, tools, webSearch } = request;
  const { rules, conversation } = splitContext(request.messages);
  const texts = textsOf([{ type: "text", text: request.instructions }, ...rules.flat()]);
  const { system, messages } = withBreakpoints(texts, conversationOf(conversation));
  return {
    model: request.model,
    max_tokens: maxOutputTokens,
    ...((tools.length > 0 || webSearch) && {
      tools: [...tools.map(toolOf), ...searchOf(request)],
      tool_choice: { type: request.toolChoice ?? "auto" },
    }),
    ...(system.length > 0 && { system }),
    messages: continued.length > 0 ? [...messages, { role: "assistant", content: continued }] : messages,
    ...thinkingOf(request, maxOutputTokens),
    ...outputOf(request),
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

function outputOf({ effort, model, outputSchema }: ModelRequest): object {
  const level = modelFacts(model, "anthropic").thinking === "adaptive" ? effortLevels[effort ?? ""] : undefined;
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
