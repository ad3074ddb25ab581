// Hooks as every part knows them: what is frozen for a thread, whichever dialect it was written in.
import { z } from "zod";

export const HookSource = z.enum(["project", "user", "managed"]);
export type HookSource = z.infer<typeof HookSource>;

export const HookDefinition = z.object({
  dialect: z.enum(["agentcli", "platform"]),
  event: z.string().describe("In the words of its dialect"),
  matcher: z.string().nullable(),
  command: z.string().describe("For a shell"),
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
export type HookDefinition = z.infer<typeof HookDefinition>;
