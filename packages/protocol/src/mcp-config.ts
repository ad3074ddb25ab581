// `[mcp_servers.<name>]`: servers that offer tools. One with a command is a process, one with a URL is called over HTTP.
import { z } from "zod";

const strings = z.array(z.string());
const stringTable = z.record(z.string(), z.string());

export const ToolApproval = z.enum(["auto", "prompt", "writes", "approve"]);
export type ToolApproval = z.infer<typeof ToolApproval>;

export const McpServer = z.object({
  type: z
    .enum(["stdio", "http", "streamable_http", "sse"])
    .optional()
    .describe("How it is spoken to; needed only for sse, the older way over HTTP"),
  command: z.string().optional().describe("Program to start; it speaks MCP on its standard streams"),
  args: strings.optional().describe("Its arguments"),
  env: stringTable.optional().describe("Its environment variables"),
  env_vars: z
    .array(
      z.union([z.string(), z.object({ name: z.string().optional(), source: z.enum(["local", "remote"]).optional() })]),
    )
    .optional()
    .describe("Names of variables passed on to it; it gets few others"),
  cwd: z.string().optional().describe("Where it is started (the working directory of the run)"),
  sandbox: z
    .enum(["read-only", "workspace-write"])
    .optional()
    .describe("Start it inside a sandbox; without this it runs outside of any"),
  url: z.string().optional().describe("Address of a server that speaks streamable HTTP"),
  bearer_token_env_var: z.string().optional().describe("Environment variable that holds its token"),
  http_headers: stringTable.optional().describe("Added to each request"),
  env_http_headers: stringTable.optional().describe("Header name to environment variable"),
  http_headers_helper: z
    .string()
    .optional()
    .describe("Command that prints more headers as a JSON object; run when connecting and when they are refused"),
  scopes: strings.optional().describe("What `mcp login` asks for, in place of what the server proposes"),
  oauth: z
    .object({
      client_id: z.string().optional().describe("Id of a client that was registered manually"),
      callback_port: z.int().positive().optional().describe("Port the login listens on (any free one)"),
    })
    .optional()
    .describe("Details of the login"),
  oauth_resource: z.string().optional().describe("Resource the token is requested for, in place of the server's own"),
  enabled: z.boolean().optional().describe("Use it at all (true)"),
  required: z.boolean().optional().describe("A run does not start without it (false)"),
  startup_timeout_sec: z
    .number()
    .positive()
    .optional()
    .describe(
      "Longest wait for its start (limits.mcp-start, 30 s); an optional server that needs longer is reported late",
    ),
  startup_timeout_ms: z.number().positive().optional().describe("The same in milliseconds"),
  tool_timeout_sec: z
    .number()
    .positive()
    .optional()
    .describe("Longest silence while one of its tools runs (300); progress it reports starts the wait anew"),
  enabled_tools: strings.optional().describe("Only these of its tools"),
  disabled_tools: strings.optional().describe("None of these of its tools"),
  supports_parallel_tool_calls: z.boolean().optional().describe("Its tools may run at the same time (false)"),
  default_tools_approval_mode: ToolApproval.optional().describe(
    "Which of its tools run without an approval (auto: those marked read-only; approve: all)",
  ),
  tools: z
    .record(z.string(), z.object({ approval_mode: ToolApproval.optional().describe("The same for one tool") }))
    .optional()
    .describe("Exceptions by tool"),
});
export type McpServer = z.infer<typeof McpServer>;
