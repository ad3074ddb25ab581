// Inference over the Responses wire, with a key of the platform: `POST /v1/inference/responses`, and what it has cost.
// Items of a conversation may have other members, as clients return what they were sent; those of settings are refused.
import { z } from "zod";
import { Cost, TokenUsage } from "./usage.ts";

const name = z.string().min(1).max(200);

const InputText = z.looseObject({ type: z.enum(["input_text", "output_text", "text"]), text: z.string() });
const Refusal = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });
const InputImage = z.looseObject({
  type: z.literal("input_image"),
  image_url: z.string().regex(/^(data:image\/|https?:\/\/)/i, "must be a data: or https: address of an image"),
  detail: z.enum(["auto", "low", "high", "original"]).nullish(),
});
const ContentPart = z.union([InputText, InputImage, Refusal]);
export type InferencePart = z.infer<typeof ContentPart>;

const Content = z.union([z.string(), z.array(ContentPart)]);
export type InferenceContent = z.infer<typeof Content>;

const Message = z.looseObject({
  type: z.literal("message").optional(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: Content,
});
const Reasoning = z.looseObject({
  type: z.literal("reasoning"),
  id: z.string().nullish(),
  summary: z.array(z.looseObject({ type: z.literal("summary_text"), text: z.string() })),
  content: z.array(z.looseObject({ type: z.literal("reasoning_text"), text: z.string() })).nullish(),
  encrypted_content: z.string().nullish(),
});
const FunctionCall = z.looseObject({
  type: z.literal("function_call"),
  id: z.string().nullish(),
  call_id: name,
  name,
  arguments: z.string(),
});
const FunctionCallOutput = z.looseObject({ type: z.literal("function_call_output"), call_id: name, output: Content });
const CustomToolCall = z.looseObject({
  type: z.literal("custom_tool_call"),
  id: z.string().nullish(),
  call_id: name,
  name,
  input: z.string(),
});
const CustomToolCallOutput = z.looseObject({
  type: z.literal("custom_tool_call_output"),
  call_id: name,
  output: Content,
});
const InputItem = z.union([Message, Reasoning, FunctionCall, FunctionCallOutput, CustomToolCall, CustomToolCallOutput]);
export type InferenceItem = z.infer<typeof InputItem>;

const FunctionTool = z.strictObject({
  type: z.literal("function"),
  name,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish().describe("Without effect: the parameters are not enforced"),
});
const CustomTool = z.strictObject({
  type: z.literal("custom"),
  name,
  description: z.string().nullish(),
  format: z
    .union([
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("grammar"), syntax: z.literal("lark"), definition: z.string() }),
    ])
    .nullish(),
});
const InferenceTool = z.union([FunctionTool, CustomTool]);
export type InferenceTool = z.infer<typeof InferenceTool>;

const word = z.string().max(100).nullish();

const TextFormat = z.union([
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({
    type: z.literal("json_schema"),
    schema: z.record(z.string(), z.unknown()),
    name: z.string().max(1_000).nullish().describe("A label, which is not passed on"),
    description: z.string().nullish().describe("A label, which is not passed on"),
    strict: z.literal(true, { error: "must be true: the schema is always enforced" }).nullish(),
  }),
]);

/** Refused, because ignoring them would change the meaning of the response. */
const stateless = z
  .null({ error: "is not supported: nothing of a conversation is kept here, send it whole" })
  .optional();

/** Labels for the records of a provider, which do not change the response; nothing is recorded here. */
const labels = {
  metadata: z.record(z.string(), z.string()).nullish(),
  client_metadata: z.record(z.string(), z.unknown()).nullish(),
  user: z.string().max(1_000).nullish(),
  safety_identifier: z.string().max(1_000).nullish(),
};

/** Accepted with the value that stands for what is done anyway. */
const asIs = {
  store: z.literal(false, { error: "must be false: nothing is stored here" }).nullish(),
  include: z
    .array(z.literal("reasoning.encrypted_content", { error: "must be reasoning.encrypted_content" }))
    .nullish(),
  truncation: z.literal("disabled", { error: "must be disabled" }).nullish(),
  service_tier: z.enum(["auto", "default"], { error: "must be auto or default" }).nullish(),
  stream_options: z.looseObject({}).nullish(),
  background: z.literal(false, { error: "must be false" }).nullish(),
};

export const InferenceRequest = z
  .strictObject({
    model: name.optional().describe("Out of `GET /v1/models`; the first of them where none is given"),
    instructions: z.string().nullish(),
    input: z.union([z.string(), z.array(InputItem).max(100_000)]),
    tools: z.array(InferenceTool).max(1_000).nullish(),
    tool_choice: z.enum(["auto", "none"], { error: "must be auto or none" }).nullish(),
    parallel_tool_calls: z.literal(true, { error: "must be true" }).nullish(),
    reasoning: z.strictObject({ effort: word, summary: word }).nullish(),
    text: z.strictObject({ verbosity: word, format: TextFormat.nullish() }).nullish(),
    max_output_tokens: z.int().min(1).max(10_000_000).nullish(),
    stream: z.boolean().nullish(),
    prompt_cache_key: z.string().max(1_000).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    ...asIs,
    ...labels,
    previous_response_id: stateless,
    conversation: stateless,
    prompt: stateless,
  })
  .meta({ id: "InferenceRequest" });
export type InferenceRequest = z.infer<typeof InferenceRequest>;

export const InferenceResponse = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int().describe("Seconds since 1970"),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable(),
  })
  .meta({ id: "InferenceResponse" });
export type InferenceResponse = z.infer<typeof InferenceResponse>;

/** What the owner of a key has used in the calendar month. */
export const InferenceUsage = z
  .object({
    since: z.iso.datetime(),
    calls: z.int(),
    totalUsage: TokenUsage,
    cost: Cost.optional().describe("Absent where a price is not known"),
    models: z.array(z.object({ model: z.string(), calls: z.int(), usage: TokenUsage, cost: Cost.optional() })),
  })
  .meta({ id: "InferenceUsage" });
export type InferenceUsage = z.infer<typeof InferenceUsage>;
