// Hook definitions in one form for all dialects, as they are frozen for a thread.
import { z } from "zod";

export const HookSource = z.enum(["project", "user", "managed"]);
export type HookSource = z.infer<typeof HookSource>;

const Shared = z.object({
  dialect: z.enum(["agentcli", "platform"]),
  event: z.string().describe("The name in its dialect"),
  matcher: z.string().nullable(),
  timeoutMs: z.int().positive(),
  failClosed: z.boolean().describe("A failure counts as a refusal"),
  loopLimit: z
    .int()
    .positive()
    .nullable()
    .describe("How often in a turn it may keep the turn from ending; null: no limit"),
  async: z.boolean().describe("The turn does not wait for it, and it cannot refuse anything"),
  contextTokens: z.int().positive().describe("Limit of its context for the model"),
  statusMessage: z.string().optional(),
  source: z.object({ kind: HookSource, path: z.string() }),
  directory: z.string().optional().describe("Working directory; absent: that of the thread"),
  key: z.string().describe("File, event and position: identifies the hook for trust"),
  hash: z.string().describe("sha256 of the normalised definition"),
  script: z.object({ path: z.string(), hash: z.string() }).optional().describe("The file of the repository it runs"),
  files: z
    .array(z.object({ path: z.string(), hash: z.string() }))
    .optional()
    .describe("Files and directories of the workspace that it runs from a private copy; absent if it is not pinned"),
  unpinned: z.string().optional().describe("Why it runs files of the workspace without a private copy"),
});

export const HookDefinition = z.union([
  Shared.extend({
    type: z.literal("command").optional().describe("Absent in sessions that are older than the other types"),
    command: z.string().describe("For a shell"),
  }),
  Shared.extend({
    type: z.literal("prompt"),
    prompt: z.string().describe("A question to the model; $ARGUMENTS is replaced by the payload"),
    model: z.string().optional().describe("Absent: the model of the thread"),
  }),
  Shared.extend({
    type: z.literal("mcp_tool"),
    server: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.json()).describe("Arguments; references to the payload are replaced by its values"),
  }),
  Shared.extend({ type: z.literal("agent"), prompt: z.string() }),
]);
export type HookDefinition = z.infer<typeof HookDefinition>;
export type HookOf<Type extends NonNullable<HookDefinition["type"]>> = Extract<HookDefinition, { type?: Type }>;
