// Keys of config.toml, profile files and `-c`. The descriptions are the documentation.
import { z } from "zod";
import { McpServer } from "./mcp-config.ts";
import { ApprovalPolicy, SandboxMode } from "./records.ts";

export const WireApi = z.enum(["responses", "chat"]);
export type WireApi = z.infer<typeof WireApi>;

export const ModelProvider = z.object({
  name: z.string().optional().describe("Name shown to people"),
  base_url: z.string().optional().describe("Requests go to base_url/responses or base_url/chat/completions"),
  env_key: z.string().optional().describe("Environment variable that holds the API key"),
  env_key_instructions: z.string().optional().describe("How to get the key, shown when it is missing"),
  wire_api: WireApi.optional().describe("Protocol of the server (responses)"),
  query_params: z.record(z.string(), z.string()).optional().describe("Added to the request URL"),
  http_headers: z.record(z.string(), z.string()).optional().describe("Added to each request"),
  env_http_headers: z.record(z.string(), z.string()).optional().describe("Header name to environment variable"),
  request_max_retries: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe("Retries of a request that failed before its answer began (4)"),
  stream_max_retries: z.int().min(0).max(100).optional().describe("Retries of an answer that broke off (5)"),
  stream_idle_timeout_ms: z.int().positive().optional().describe("Longest silence within an answer (120000)"),
  retry_base_ms: z.int().positive().optional().describe("First wait between retries, doubled each time (200)"),
  requires_openai_auth: z.boolean().optional().describe("Use the saved login for this provider"),
});
export type ModelProvider = z.infer<typeof ModelProvider>;

const Duration = z
  .string()
  .regex(/^(\d+(\.\d+)?(ms|s|m|h)|off)$/)
  .describe("A duration such as 500ms, 30s, 10m, 1h, or off");

export const Limits = z.object({
  stdin: Duration.optional(),
  "first-byte": Duration.optional(),
  idle: Duration.optional(),
  tool: Duration.optional(),
  hook: Duration.optional(),
  "mcp-start": Duration.optional(),
  wall: Duration.optional(),
});
export type Limits = z.infer<typeof Limits>;

export const BudgetConfig = z.object({
  usd: z.number().positive().optional().describe("US dollars, by the price book"),
  tokens: z.int().positive().optional().describe("Input and output tokens together"),
  turns: z.int().positive().optional().describe("Model requests"),
  tools: z.int().nonnegative().optional().describe("Tool calls"),
  wall: Duration.optional().describe("Time from the prompt on"),
});
export type BudgetConfig = z.infer<typeof BudgetConfig>;

export const PriceConfig = z.object({
  input: z.number().nonnegative().describe("US dollars per million input tokens"),
  output: z.number().nonnegative().describe("US dollars per million output tokens"),
  cached_input: z.number().nonnegative().optional().describe("The same for cached input (input)"),
});
export type PriceConfig = z.infer<typeof PriceConfig>;

export const Config = z.object({
  model: z.string().optional().describe("The model to ask"),
  model_provider: z.string().optional().describe("Which entry of model_providers to use (openai)"),
  model_providers: z.record(z.string(), ModelProvider).optional().describe("Servers that speak a model wire"),
  openai_base_url: z.string().optional().describe("Base URL of the built-in openai provider"),
  model_context_window: z
    .int()
    .positive()
    .optional()
    .describe("Context window in tokens, where the model is not known"),
  model_auto_compact_token_limit: z.int().positive().optional().describe("Compact the history at this many tokens"),
  model_reasoning_effort: z.string().optional().describe("How hard to think: none, minimal, low, medium, high, xhigh"),
  model_reasoning_summary: z
    .enum(["auto", "concise", "detailed", "none"])
    .optional()
    .describe("Summaries of reasoning"),
  model_verbosity: z.enum(["low", "medium", "high"]).optional().describe("Length of answers"),
  sandbox_mode: SandboxMode.optional().describe("What commands may touch (read-only for exec)"),
  sandbox_workspace_write: z
    .object({
      writable_roots: z.array(z.string()).optional().describe("More directories that may be written"),
      network_access: z.boolean().optional().describe("Let commands use the network (false)"),
    })
    .optional()
    .describe("Details of the workspace-write sandbox"),
  approval_policy: ApprovalPolicy.optional().describe("Whether actions may ask for approval; exec never asks"),
  tool_output_token_limit: z.int().positive().optional().describe("Budget of one tool output for the model (10000)"),
  mcp_servers: z.record(z.string(), McpServer).optional().describe("Servers that offer tools"),
  limits: Limits.optional().describe("Longest waits, by name"),
  budget: BudgetConfig.optional().describe("What a turn may spend, its sub-agents included"),
  prices: z.record(z.string(), PriceConfig).optional().describe("Prices by model, over those that are built in"),
});
export type Config = z.infer<typeof Config>;
