// The outcome of a tool call, for the model and for surfaces.
import { z } from "zod";

export const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("image"),
    url: z.string().describe("A data: or https: URL"),
    detail: z.enum(["auto", "low", "high", "original"]).optional(),
    name: z.string().optional().describe("The source of the image, shown to the model"),
  }),
]);
export type Part = z.infer<typeof Part>;

export const FileChange = z.object({
  path: z.string(),
  kind: z.enum(["add", "delete", "update"]),
  movedTo: z.string().optional(),
});
export type FileChange = z.infer<typeof FileChange>;

export const PlanStep = z.object({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) });
export type PlanStep = z.infer<typeof PlanStep>;

/** The server and tool of an MCP call; they cannot be recovered from the name that the model uses. */
export const McpOrigin = z.object({ server: z.string(), tool: z.string() });
export type McpOrigin = z.infer<typeof McpOrigin>;

export const McpResult = z.object({
  content: z.array(z.json()).describe("Whole up to 8 MiB, then head and tail"),
  structuredContent: z.json(),
  meta: z.json().optional(),
});
export type McpResult = z.infer<typeof McpResult>;

/** State of a sub-agent. */
export const AgentState = z.object({
  status: z.enum(["pending_init", "running", "interrupted", "completed", "errored", "shutdown", "not_found"]),
  message: z.string().nullable(),
});
export type AgentState = z.infer<typeof AgentState>;

/** What a tool did, for people and programs; the model reads `parts` of the outcome instead. */
export const Detail = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("command"),
    output: z.string().describe("Whole up to 8 MiB, then head and tail"),
    exitCode: z.int().nullable(),
    sessionId: z.int().optional().describe("Set while the process keeps running after the call"),
    cursor: z.int().describe("Last output chunk that was read"),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal("input"),
    sessionId: z.int(),
    output: z.string().describe("Output since the last call"),
    exitCode: z.int().nullable(),
    running: z.boolean(),
    cursor: z.int(),
    durationMs: z.number(),
  }),
  z.object({ kind: z.literal("patch"), changes: z.array(FileChange) }),
  z.object({ kind: z.literal("plan"), steps: z.array(PlanStep) }),
  McpOrigin.extend({
    kind: z.literal("mcp"),
    arguments: z.json(),
    result: McpResult.nullable(),
    error: z.string().nullable().describe("Why there is no result"),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal("agents"),
    prompt: z.string().nullable(),
    agents: z.record(z.string(), AgentState),
  }),
  z.object({ kind: z.literal("none") }),
]);
export type Detail = z.infer<typeof Detail>;

export const Outcome = z.object({
  status: z.enum(["completed", "failed", "declined", "interrupted"]),
  parts: z.array(Part).describe("What the model receives"),
  reason: z.string().optional().describe("Why it was declined, interrupted or invalid"),
  detail: Detail,
});
export type Outcome = z.infer<typeof Outcome>;
