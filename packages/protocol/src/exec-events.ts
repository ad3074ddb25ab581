// Lines of `agentcli exec --json`.
import { z } from "zod";
import { ErrorCode } from "./errors.ts";
import { ThreadItem } from "./items.ts";
import { schemaVersion } from "./schema-version.ts";
import { SandboxReport } from "./settings.ts";
import { DecimalUsd } from "./usage.ts";

export const EventUsage = z.object({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_output_tokens: z.int(),
});
export type EventUsage = z.infer<typeof EventUsage>;

export const ExecEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("thread.started"),
    thread_id: z.string(),
    schema_version: z.literal(schemaVersion),
    sandbox: SandboxReport,
  }),
  z.object({ type: z.literal("turn.started") }),
  z.object({ type: z.literal("item.started"), item: ThreadItem }),
  z.object({ type: z.literal("item.updated"), item: ThreadItem }),
  z.object({ type: z.literal("item.completed"), item: ThreadItem }),
  z.object({ type: z.literal("turn.completed"), usage: EventUsage, cost_usd: DecimalUsd.nullable() }),
  z.object({
    type: z.literal("turn.failed"),
    error: z.object({
      message: z.string(),
      code: ErrorCode,
      limit: z.string().optional(),
      retry_after_s: z.number().optional(),
    }),
  }),
  z.object({ type: z.literal("error"), message: z.string() }),
]);
export type ExecEvent = z.infer<typeof ExecEvent>;
