// Requests as OpenAI's OpenAPI description states them (github.com/openai/openai-openapi, 2026-11): the members of each
// schema that our requests use, their types and values, and which of them are required. Facts, written down by hand.
import { z } from "zod";

const Nullable = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);
const text = z.string();

const InputTextContent = z.strictObject({ type: z.literal("input_text"), text });
const InputImageContent = z.strictObject({
  type: z.literal("input_image"),
  image_url: Nullable(text).optional(),
  file_id: Nullable(text).optional(),
  detail: z.enum(["low", "high", "auto", "original"]).optional(),
});
const InputContent = z.discriminatedUnion("type", [InputTextContent, InputImageContent]);
const MessagePhase = z.enum(["commentary", "final_answer"]);

const EasyInputMessage = z.strictObject({
  role: z.enum(["user", "system", "developer"]),
  content: z.union([text, z.array(InputContent)]),
  phase: Nullable(MessagePhase).optional(),
  type: z.literal("message").optional(),
});
const OutputTextContent = z.strictObject({
  type: z.literal("output_text"),
  text,
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()),
});
const OutputMessage = z.strictObject({
  id: text,
  status: z.enum(["in_progress", "completed", "incomplete"]),
  type: z.literal("message"),
  role: z.literal("assistant"),
  content: z.array(OutputTextContent),
  phase: Nullable(MessagePhase).optional(),
});
const FunctionToolCall = z.strictObject({
  id: text.optional(),
  type: z.literal("function_call"),
  call_id: text,
  name: text,
  arguments: text,
});
const FunctionCallOutputItemParam = z.strictObject({
  type: z.literal("function_call_output"),
  call_id: Nullable(text).optional(),
  output: z.union([text, z.array(InputContent)]),
});
const CustomToolCall = z.strictObject({
  type: z.literal("custom_tool_call"),
  id: text.optional(),
  call_id: text,
  name: text,
  input: text,
});
const CustomToolCallOutput = z.strictObject({
  type: z.literal("custom_tool_call_output"),
  call_id: text,
  output: z.union([text, z.array(InputContent)]),
});
const ReasoningItem = z.strictObject({
  type: z.literal("reasoning"),
  id: text,
  encrypted_content: Nullable(text).optional(),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text })),
  content: z.array(z.strictObject({ type: z.literal("reasoning_text"), text })).optional(),
});
const WebSearchToolCall = z.strictObject({
  id: text,
  type: z.literal("web_search_call"),
  status: z.enum(["in_progress", "searching", "completed", "failed"]),
  action: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("search"), query: text.optional(), queries: z.array(text).optional() }),
    z.strictObject({ type: z.literal("open_page"), url: Nullable(text).optional() }),
    z.strictObject({ type: z.literal("find_in_page"), url: text, pattern: text }),
  ]),
});
const FunctionTool = z.strictObject({
  type: z.literal("function"),
  name: text,
  description: Nullable(text).optional(),
  parameters: Nullable(z.record(text, z.unknown())),
  strict: Nullable(z.boolean()),
});
const CustomToolParam = z.strictObject({
  type: z.literal("custom"),
  name: text,
  description: text.optional(),
  format: z
    .strictObject({ type: z.literal("grammar"), syntax: z.enum(["lark", "regex"]), definition: text })
    .optional(),
});
const WebSearchTool = z.strictObject({
  type: z.enum(["web_search", "web_search_2025_08_26"]),
  external_web_access: z.boolean().optional(),
  filters: Nullable(z.strictObject({ allowed_domains: Nullable(z.array(text)).optional() })).optional(),
});

const Effort = Nullable(z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]));
const Verbosity = Nullable(z.enum(["low", "medium", "high"]));
const ServiceTier = z.enum(["auto", "default", "flex", "scale", "priority", "fast"]);
const ToolChoice = z.enum(["none", "auto", "required"]);
const Share = Nullable(z.number().min(0).max(1));
const Temperature = Nullable(z.number().min(0).max(2));

export const CreateResponse = z.strictObject({
  model: text.optional(),
  instructions: Nullable(text).optional(),
  tools: z.array(z.discriminatedUnion("type", [FunctionTool, CustomToolParam, WebSearchTool])).optional(),
  input: z
    .array(
      z.union([
        EasyInputMessage,
        OutputMessage,
        FunctionToolCall,
        FunctionCallOutputItemParam,
        CustomToolCall,
        CustomToolCallOutput,
        ReasoningItem,
        WebSearchToolCall,
      ]),
    )
    .optional(),
  tool_choice: ToolChoice.optional(),
  parallel_tool_calls: Nullable(z.boolean()).optional(),
  reasoning: Nullable(
    z.strictObject({
      effort: Effort.optional(),
      summary: Nullable(z.enum(["auto", "concise", "detailed"])).optional(),
    }),
  ).optional(),
  store: Nullable(z.boolean()).optional(),
  stream: Nullable(z.boolean()).optional(),
  include: Nullable(z.array(z.enum(["reasoning.encrypted_content", "web_search_call.action.sources"]))).optional(),
  prompt_cache_key: Nullable(text).optional(),
  text: z
    .strictObject({
      format: z
        .strictObject({
          type: z.literal("json_schema"),
          name: text.regex(/^[\w-]{1,64}$/),
          schema: z.record(text, z.unknown()),
          strict: Nullable(z.boolean()).optional(),
        })
        .optional(),
      verbosity: Verbosity.optional(),
    })
    .optional(),
  max_output_tokens: Nullable(z.int().min(16)).optional(),
  service_tier: Nullable(z.enum([...ServiceTier.options, "ultrafast"])).optional(),
  temperature: Temperature.optional(),
  top_p: Share.optional(),
});

const ContentPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text }),
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.strictObject({ url: text, detail: z.enum(["auto", "low", "high"]).optional() }),
  }),
]);
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "developer"]), content: text }),
  z.strictObject({ role: z.literal("user"), content: z.union([text, z.array(ContentPart)]) }),
  z.strictObject({
    role: z.literal("assistant"),
    content: Nullable(text).optional(),
    tool_calls: z
      .array(
        z.strictObject({
          id: text,
          type: z.literal("function"),
          function: z.strictObject({ name: text, arguments: text }),
        }),
      )
      .optional(),
  }),
  z.strictObject({ role: z.literal("tool"), content: text, tool_call_id: text }),
]);

export const CreateChatCompletionRequest = z.strictObject({
  messages: z.array(Message).min(1),
  model: text,
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: text,
          description: text.optional(),
          parameters: z.record(text, z.unknown()).optional(),
          strict: Nullable(z.boolean()).optional(),
        }),
      }),
    )
    .optional(),
  tool_choice: ToolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: Effort.optional(),
  verbosity: Verbosity.optional(),
  service_tier: Nullable(ServiceTier).optional(),
  response_format: z
    .strictObject({
      type: z.literal("json_schema"),
      json_schema: z.strictObject({
        name: text.regex(/^[\w-]{1,64}$/),
        schema: z.record(text, z.unknown()).optional(),
        strict: Nullable(z.boolean()).optional(),
      }),
    })
    .optional(),
  max_completion_tokens: Nullable(z.int()).optional(),
  max_tokens: Nullable(z.int()).optional(),
  temperature: Temperature.optional(),
  top_p: Share.optional(),
  stream: Nullable(z.boolean()).optional(),
  stream_options: Nullable(z.strictObject({ include_usage: z.boolean().optional() })).optional(),
});
