// Runs: each prompt to an agent is one.
import { z } from "zod";
import { runStatuses } from "../outcomes.ts";
import { AgentId, ModelSelection, pageOf, RunId, Timestamp } from "./common.ts";
import { EnvVars } from "./env-vars.ts";
import { RunEnvironment } from "./environments.ts";
import { Prompt } from "./prompts.ts";
import { McpServers } from "./servers.ts";

export { outcomeWords } from "../outcomes.ts";

export const RunStatus = z.enum(runStatuses);
export type RunStatus = z.infer<typeof RunStatus>;

export const RunGit = z.object({
  branches: z.array(
    z.object({
      repoUrl: z.string().describe("Without scheme: host/owner/name"),
      branch: z.string().optional(),
      prUrl: z.string().optional(),
      heldBack: z
        .array(
          z.object({
            path: z.string().describe("A directory ends with a slash"),
            reason: z.enum(["secret", "leftover"]),
          }),
        )
        .optional()
        .describe("Files that look like secrets or leftovers of tools, and were not handed off; at most 100"),
    }),
  ),
});
export type RunGit = z.infer<typeof RunGit>;

export const OpenedPullRequests = RunGit.meta({ id: "OpenedPullRequests" });

export const RunError = z.object({ message: z.string(), code: z.string().optional() });

export const RunModel = z.object({ id: z.string(), provider: z.string().optional() });
export type RunModel = z.infer<typeof RunModel>;

export const RunMachine = z.object({
  provider: z.enum(["host", "local", "docker", "worker"]),
  reason: z.string().describe("Why this one"),
});
export type RunMachine = z.infer<typeof RunMachine>;

export const RunQueue = z.object({
  position: z.int().positive().describe("1: the next one"),
  reason: z.string().describe("What it waits for"),
});
export type RunQueue = z.infer<typeof RunQueue>;

export { describeRunModel } from "../outcomes.ts";

export const UnsavedArtifact = z.object({
  path: z.string(),
  reason: z.enum(["storage_full", "failed", "too_large", "too_many", "secret"]),
  message: z.string(),
});
export type UnsavedArtifact = z.infer<typeof UnsavedArtifact>;

export const Run = z.object({
  id: RunId,
  agentId: AgentId,
  status: RunStatus,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  requestId: z.string().optional(),
  model: RunModel.optional().describe("What answers; absent for runs of older versions"),
  machine: RunMachine.optional().describe("Where its commands run; absent until a server drives it"),
  queue: RunQueue.optional().describe(
    "While it waits for a worker, or for the server that has its files; in the answer to reading one run",
  ),
  environment: RunEnvironment.optional().describe("Absent until a server drives it, and on workers"),
  durationMs: z.int().nonnegative().optional(),
  result: z.string().optional().describe("The final message, once there is one"),
  error: RunError.optional(),
  git: RunGit.optional(),
  unsavedArtifacts: z.array(UnsavedArtifact).optional().describe("Artifacts that could not be kept; absent: all were"),
});
export type Run = z.infer<typeof Run>;

export const CreateRun = z.strictObject({
  prompt: Prompt,
  mcpServers: McpServers.optional().describe("In place of those the agent was created with, for this run"),
  mode: z.enum(["agent", "plan"]).optional().describe("Absent: as the conversation was"),
  model: ModelSelection.optional(),
  envVars: EnvVars.optional().describe("For this run only"),
});
export type CreateRun = z.infer<typeof CreateRun>;

export const RunCreated = z.object({ run: Run });
export const RunPage = pageOf(Run);

export const CreateRunMessage = z
  .strictObject({ text: z.string().trim().min(1).max(1_000_000) })
  .meta({ id: "CreateRunMessage" });

export const RunMessage = z
  .object({
    id: z.string(),
    runId: RunId,
    text: z.string(),
    status: z
      .enum(["pending", "delivered", "undelivered"])
      .describe("Delivered: part of the conversation; undelivered: the run ended before. Send it as a follow-up then"),
    createdAt: Timestamp,
  })
  .meta({ id: "RunMessage" });
export type RunMessage = z.infer<typeof RunMessage>;

export const RunMessageList = z.object({ items: z.array(RunMessage) }).meta({ id: "RunMessageList" });
