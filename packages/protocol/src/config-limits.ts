// Keys that config.toml shares with the configuration of the platform: limits, budgets, prices, telemetry.
import { z } from "zod";

const Duration = z
  .string()
  .regex(/^(\d+(\.\d+)?(ms|s|m|h)|off)$/)
  .meta({
    description: "A duration such as 500ms, 30s, 10m, 1h, or off",
    expected: "a duration such as 500ms, 30s, 10m, 1h, or off",
  });

export const Size = z.string().regex(/^(\d+(\.\d+)?[kmgtKMGT]?|off)$/);

export const Limits = z.object({
  stdin: Duration.optional(),
  "first-byte": Duration.optional(),
  idle: Duration.optional().describe(
    "Maximum time between two events of a model's response; keep-alives of a proxy do not count (120s)",
  ),
  tool: Duration.optional(),
  hook: Duration.optional(),
  "mcp-start": Duration.optional(),
  wall: Duration.optional().describe("Maximum duration of a run, from its prompt on; off for none (24h)"),
  memory: Size.optional().describe(
    "Memory of a sandbox: bytes, or a number with k, m, g or t such as 4g, or off (off; on the platform 4g)",
  ),
  processes: z
    .int()
    .positive()
    .optional()
    .describe("Maximum number of processes and threads in a sandbox, where it can be enforced (4096)"),
  tmp: Size.optional().describe(
    "Size of the private /tmp, /run and /dev/shm of a sandbox together, in memory (4g; on the platform 2g)",
  ),
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
  input: z.number().nonnegative().optional().describe("US dollars per million input tokens"),
  output: z.number().nonnegative().optional().describe("US dollars per million output tokens"),
  cached_input: z.number().nonnegative().optional().describe("The same for cached input (input)"),
});
export type PriceConfig = z.infer<typeof PriceConfig>;

export const OtelConfig = z.object({
  endpoint: z
    .string()
    .regex(/^https?:\/\//)
    .optional()
    .meta({
      description: "Base URL of an OpenTelemetry collector: OTLP over HTTP, such as http://localhost:4318",
      expected: "an http or https address",
    }),
  headers: z.record(z.string(), z.string()).optional().describe("Headers for the collector"),
  env_headers: z
    .record(z.string(), z.string())
    .optional()
    .describe("The same, each with the environment variable that holds its value"),
  file: z.string().optional().describe("File to which traces and metrics are appended, a request of OTLP per line"),
  include_content: z
    .boolean()
    .optional()
    .describe("Also send prompts, replies, and arguments and results of tools (false)"),
  service_name: z.string().optional().describe("As which service this program is shown (its name)"),
});
export type OtelConfig = z.infer<typeof OtelConfig>;

export const ModelFallback = z
  .array(z.string())
  .optional()
  .describe(
    "Models to ask, in order, for the rest of a turn whose model is overloaded or out of quota; PROVIDER/MODEL is one of another provider",
  );
