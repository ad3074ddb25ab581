// Tool calls in a run's stream. Readers drop frames of unknown tool types.
import { z } from "zod";

const failure = z.object({ status: z.literal("error"), error: z.object({ message: z.string() }) });

const call = <Type extends string, Args extends z.ZodType, Value extends z.ZodType>(
  type: Type,
  args: Args,
  value: Value,
) =>
  z.object({
    type: z.literal(type),
    args,
    result: z.union([z.object({ status: z.literal("success"), value }), failure]).optional(),
  });

export const ToolCall = z.discriminatedUnion("type", [
  call(
    "shell",
    z.object({ command: z.string(), workingDirectory: z.string().optional(), timeout: z.number().optional() }),
    z.object({
      exitCode: z.number(),
      signal: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      executionTime: z.number(),
    }),
  ),
  call(
    "write",
    z.object({ path: z.string(), fileText: z.string() }),
    z.object({ path: z.string(), linesCreated: z.number(), fileSize: z.number() }),
  ),
  call("delete", z.object({ path: z.string() }), z.object({ fileSize: z.number() })),
  call(
    "grep",
    z.object({ pattern: z.string(), path: z.string().optional(), glob: z.string().optional() }),
    z.object({ workspaceResults: z.record(z.string(), z.json()).optional() }),
  ),
  call(
    "read",
    z.object({ path: z.string() }),
    z.object({ content: z.string(), totalLines: z.number(), fileSize: z.number() }),
  ),
  call(
    "edit",
    z.object({ path: z.string() }),
    z.object({
      linesAdded: z.number().optional(),
      linesRemoved: z.number().optional(),
      diffString: z.string().optional(),
    }),
  ),
  call("ls", z.object({ path: z.string() }), z.object({ directoryTreeRoot: z.json() })),
  call(
    "mcp",
    z.object({
      args: z.json().optional(),
      providerIdentifier: z.string().optional(),
      toolName: z.string().optional(),
    }),
    z.object({
      content: z.array(
        z.object({
          text: z.object({ text: z.string() }).optional(),
          image: z.object({ data: z.string(), mimeType: z.string().optional() }).optional(),
        }),
      ),
      isError: z.boolean(),
    }),
  ),
  call(
    "updateTodos",
    z.object({
      todos: z.array(
        z.object({ content: z.string(), status: z.enum(["pending", "inProgress", "completed", "cancelled"]) }),
      ),
    }),
    z.object({
      todos: z.array(z.object({ content: z.string(), status: z.string() })),
      totalCount: z.number(),
    }),
  ),
  call(
    "task",
    z.object({
      description: z.string(),
      prompt: z.string(),
      subagentType: z.object({ kind: z.string(), name: z.string().optional() }).optional(),
      agentId: z.string().optional(),
    }),
    z.object({
      agentId: z.string().optional(),
      isBackground: z.boolean(),
      durationMs: z.number().optional(),
      backgroundReason: z.enum(["unspecified", "agentRequest", "userRequest", "queuedFollowUp"]),
    }),
  ),
]);
export type ToolCall = z.infer<typeof ToolCall>;
export type ToolCallOf<T extends ToolCall["type"]> = Extract<ToolCall, { type: T }>;
