// Translates the body of a Responses request into a model request.
import type { Message, ModelRequest } from "@agentcli/engine";
import type { Block, Part, ToolSpec } from "@agentcli/protocol";
import type {
  InferenceContent,
  InferenceItem,
  InferencePart,
  InferenceRequest,
  InferenceTool,
} from "@agentcli/protocol/api";

export interface CallIdentity {
  /** The provider's name of it. */
  model: string;
  callId: string;
  cacheKey: string;
}

export function modelRequestOf(body: InferenceRequest, { model, callId, cacheKey }: CallIdentity): ModelRequest {
  const { reasoning, text, temperature, top_p: topP } = body;
  const sampling = {
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof topP === "number" && { topP }),
  };
  const schema = text?.format?.type === "json_schema" ? text.format.schema : undefined;
  return {
    model,
    instructions: body.instructions ?? "",
    messages: messagesOf(body.input),
    tools: body.tool_choice === "none" ? [] : (body.tools ?? []).map(toolOf),
    ...(reasoning?.effort && { effort: reasoning.effort }),
    ...(reasoning?.summary && { reasoningSummary: reasoning.summary }),
    ...(text?.verbosity && { verbosity: text.verbosity }),
    ...(schema && { outputSchema: schema as object }),
    ...(body.max_output_tokens && { maxOutputTokens: body.max_output_tokens }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    cacheKey,
    turnId: callId,
  };
}

function messagesOf(input: InferenceRequest["input"]): Message[] {
  if (typeof input === "string") return [{ role: "user", parts: [{ type: "text", text: input }] }];
  const messages: Message[] = [];
  for (const item of input) {
    const message = messageOf(item);
    const before = messages.at(-1);
    // The items of one reply form one assistant message.
    if (message.role === "assistant" && before?.role === "assistant") before.blocks.push(...message.blocks);
    else messages.push(message);
  }
  return messages;
}

function messageOf(item: InferenceItem): Message {
  switch (item.type) {
    case "reasoning":
      return { role: "assistant", blocks: [reasoningOf(item)] };
    case "function_call":
      return { role: "assistant", blocks: [callOf(item, "function", item.arguments)] };
    case "custom_tool_call":
      return { role: "assistant", blocks: [callOf(item, "freeform", item.input)] };
    case "function_call_output":
      return { role: "tool", wireId: item.call_id, form: "function", parts: partsOf(item.output) };
    case "custom_tool_call_output":
      return { role: "tool", wireId: item.call_id, form: "freeform", parts: partsOf(item.output) };
    case "message":
    case undefined:
      return item.role === "assistant"
        ? { role: "assistant", blocks: [{ type: "message", text: textOf(item.content) }] }
        : { role: item.role === "user" ? "user" : "developer", parts: partsOf(item.content) };
  }
}

function reasoningOf(item: Extract<InferenceItem, { type: "reasoning" }>): Block {
  const text = (item.content ?? []).map((part) => part.text).join("");
  return {
    type: "reasoning",
    summary: item.summary.map((part) => part.text),
    ...(text && { text }),
    ...(item.encrypted_content && { encrypted: item.encrypted_content }),
    ...(item.id && { wireId: item.id }),
  };
}

type CallItem = Extract<InferenceItem, { type: "function_call" | "custom_tool_call" }>;

const callOf = ({ call_id, id, name }: CallItem, form: "function" | "freeform", input: string): Block => ({
  type: "call",
  wireId: call_id,
  ...(id && { itemId: id }),
  name,
  form,
  input,
});

const partsOf = (content: InferenceContent): Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content.map(partOf);

function partOf(part: InferencePart): Part {
  if (part.type !== "input_image") return { type: "text", text: textOfPart(part) };
  return { type: "image", url: part.image_url, ...(part.detail && { detail: part.detail }) };
}

const textOf = (content: InferenceContent): string =>
  typeof content === "string" ? content : content.map(textOfPart).join("");

function textOfPart(part: InferencePart): string {
  if (part.type === "input_image") return "";
  return part.type === "refusal" ? part.refusal : part.text;
}

function toolOf(tool: InferenceTool): ToolSpec {
  const { name, description } = tool;
  const spec = { name, description: description ?? "" };
  if (tool.type === "function")
    return { form: "function", ...spec, parameters: (tool.parameters ?? noParameters) as Parameters };
  const definition = tool.format?.type === "grammar" ? tool.format.definition : anyText;
  return { form: "freeform", ...spec, grammar: { syntax: "lark", definition } };
}

type Parameters = Extract<ToolSpec, { form: "function" }>["parameters"];

const noParameters = { type: "object", properties: {}, additionalProperties: false };
const anyText = "start: /(.|\\n)*/";
