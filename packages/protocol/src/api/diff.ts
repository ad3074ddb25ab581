// Changes of an agent, as patches.
import { z } from "zod";

export const RepositoryDiff = z.object({
  repoUrl: z.string().describe("Without scheme: host/owner/name"),
  baseBranch: z.string().describe("What a pull request would go to"),
  baseCommit: z.string().describe("What the patch applies to; with of=run a tree where the run before did not finish"),
  branch: z.string().describe("What the agent works on, pushed or not"),
  encoding: z.enum(["utf-8", "base64"]).describe("How the patch is written; base64 where its files are not all UTF-8"),
  patch: z
    .string()
    .describe("As git diff --binary writes it; empty where nothing was changed; at most 1 MiB, cut between files"),
  truncated: z.boolean().describe("Whether the patch is only the beginning; patchUrl has all of it"),
  patchBytes: z.int().describe("Size of the whole patch"),
  patchUrl: z.string().describe("The whole patch as a file, for the same callers"),
});
export type RepositoryDiff = z.infer<typeof RepositoryDiff>;

export const AgentDiff = z.object({ items: z.array(RepositoryDiff) });
export type AgentDiff = z.infer<typeof AgentDiff>;
