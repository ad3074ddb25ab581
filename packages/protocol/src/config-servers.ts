// Servers a configuration can name to answer model requests.
import { z } from "zod";

export const WireApi = z.enum(["responses", "chat", "anthropic"]);
export type WireApi = z.infer<typeof WireApi>;

const stringTable = z.record(z.string(), z.string());

export const ModelProvider = z.object({
  name: z.string().optional().describe("Name shown to people"),
  base_url: z
    .string()
    .optional()
    .describe("Requests go to base_url/responses, base_url/chat/completions or base_url/messages"),
  env_key: z.string().optional().describe("Environment variable that holds the API key"),
  env_key_instructions: z.string().optional().describe("How to get the key, shown when it is missing"),
  wire_api: WireApi.optional().describe("Protocol of the server (responses)"),
  key_header: z
    .string()
    .optional()
    .describe("Header with the key (Authorization, as Bearer; x-api-key with wire_api anthropic)"),
  endpoint: z
    .enum(["azure", "bedrock", "vertex"])
    .optional()
    .describe("Service whose paths and signatures differ from those of the wire"),
  query_params: stringTable.optional().describe("Added to the request URL"),
  http_headers: stringTable.optional().describe("Added to each request"),
  env_http_headers: stringTable.optional().describe("Header name to environment variable"),
  request_max_retries: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe("Retries of a request that failed before its response began (4)"),
  stream_max_retries: z.int().min(0).max(100).optional().describe("Retries of an interrupted response (5)"),
  stream_idle_timeout_ms: z.int().positive().optional().describe("Idle timeout within a response (120000)"),
  retry_base_ms: z.int().positive().optional().describe("First wait between retries, doubled each time (200)"),
  supports_websockets: z
    .boolean()
    .optional()
    .meta({
      description: "Replies come over HTTP: true has no effect and causes a warning",
      noEffect: true,
      worksAs: [false],
    }),
  requires_openai_auth: z.boolean().optional().describe("Use the saved login for this provider"),
});
export type ModelProvider = z.infer<typeof ModelProvider>;
