// Servers a configuration can name: those that answer model requests and those that offer tools.
import { z } from "zod";

export const WireApi = z.enum(["responses", "chat"]);
export type WireApi = z.infer<typeof WireApi>;

const strings = z.array(z.string());
const stringTable = z.record(z.string(), z.string());

export const ModelProvider = z.object({
  name: z.string().optional().describe("Name shown to people"),
  base_url: z.string().optional().describe("Requests go to base_url/responses or base_url/chat/completions"),
  env_key: z.string().optional().describe("Environment variable that holds the API key"),
  env_key_instructions: z.string().optional().describe("How to get the key, shown when it is missing"),
  wire_api: WireApi.optional().describe("Protocol of the server (responses)"),
  query_params: stringTable.optional().describe("Added to the request URL"),
  http_headers: stringTable.optional().describe("Added to each request"),
  env_http_headers: stringTable.optional().describe("Header name to environment variable"),
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

const ToolApproval = z.enum(["auto", "prompt", "writes", "approve"]);

/** One shape for both transports: a server with a command is a child process, one with a URL is asked over HTTP. */
export const McpServer = z.object({
  command: z.string().optional().describe("Program to start; accepted; no effect yet"),
  args: strings.optional().describe("Its arguments; accepted; no effect yet"),
  env: stringTable.optional().describe("Variables it is given; accepted; no effect yet"),
  env_vars: strings.optional().describe("Names of variables passed on to it; accepted; no effect yet"),
  cwd: z.string().optional().describe("Where it is started; accepted; no effect yet"),
  sandbox: z
    .enum(["read-only", "workspace-write"])
    .optional()
    .describe("Start it inside the sandbox of the run; accepted; no effect yet"),
  url: z.string().optional().describe("Address of a server over HTTP; accepted; no effect yet"),
  bearer_token_env_var: z
    .string()
    .optional()
    .describe("Environment variable that holds its token; accepted; no effect yet"),
  http_headers: stringTable.optional().describe("Added to each request; accepted; no effect yet"),
  env_http_headers: stringTable.optional().describe("Header name to environment variable; accepted; no effect yet"),
  enabled: z.boolean().optional().describe("Use it at all (true); accepted; no effect yet"),
  required: z.boolean().optional().describe("A run does not start without it (false); accepted; no effect yet"),
  startup_timeout_sec: z
    .number()
    .positive()
    .optional()
    .describe("Longest wait for its start (30); accepted; no effect yet"),
  tool_timeout_sec: z
    .number()
    .positive()
    .optional()
    .describe("Longest wait for one of its tools (300); accepted; no effect yet"),
  enabled_tools: strings.optional().describe("Only these of its tools; accepted; no effect yet"),
  disabled_tools: strings.optional().describe("None of these of its tools; accepted; no effect yet"),
  supports_parallel_tool_calls: z
    .boolean()
    .optional()
    .describe("Its tools may run at the same time (false); accepted; no effect yet"),
  default_tools_approval_mode: ToolApproval.optional().describe(
    "Which of its tools run without an approval (auto); accepted; no effect yet",
  ),
  tools: z
    .record(z.string(), z.object({ approval_mode: ToolApproval.optional().describe("accepted; no effect yet") }))
    .optional()
    .describe("Exceptions by tool"),
});
export type McpServer = z.infer<typeof McpServer>;
