// Hooks as every part knows them: what is frozen for a thread, whichever dialect it was written in.
import { z } from "zod";

export const HookSource = z.enum(["project", "user", "managed"]);
export type HookSource = z.infer<typeof HookSource>;

const Shared = z.object({
  dialect: z.enum(["agentcli", "platform"]),
  event: z.string().describe("In the words of its dialect"),
  matcher: z.string().nullable(),
  timeoutMs: z.int().positive(),
  failClosed: z.boolean().describe("A failure counts as a refusal"),
  loopLimit: z.int().positive().nullable().describe("How often in a turn it may send the agent on; null: as it likes"),
  async: z.boolean().describe("Nobody waits for it, and it cannot refuse"),
  contextTokens: z.int().positive().describe("Most of what it says that the model is told"),
  statusMessage: z.string().optional(),
  source: z.object({ kind: HookSource, path: z.string() }),
  directory: z.string().optional().describe("Where it runs; absent: where the thread works"),
  key: z.string().describe("File, event and place in it: what trust is given to"),
  hash: z.string().describe("sha256 of the normalised definition"),
  script: z.object({ path: z.string(), hash: z.string() }).optional().describe("The file of the repository it runs"),
});

export const HookDefinition = z.union([
  Shared.extend({
    type: z.literal("command").optional().describe("Absent in sessions from before there were other types"),
    command: z.string().describe("For a shell"),
  }),
  Shared.extend({
    type: z.literal("prompt"),
    prompt: z.string().describe("A question to the model; $ARGUMENTS in it stands for the payload"),
    model: z.string().optional().describe("Absent: the model of the thread"),
  }),
  Shared.extend({
    type: z.literal("mcp_tool"),
    server: z.string(),
    tool: z.string(),
    input: z
      .record(z.string(), z.json())
      .describe("Arguments; a path of the payload in braces behind a dollar sign stands for what is there"),
  }),
  Shared.extend({ type: z.literal("agent"), prompt: z.string() }),
]);
export type HookDefinition = z.infer<typeof HookDefinition>;
export type HookOf<Type extends NonNullable<HookDefinition["type"]>> = Extract<HookDefinition, { type?: Type }>;
