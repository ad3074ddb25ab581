// Agents: the request that creates one, and its representation.
import { z } from "zod";
import { unprintable, unprintableProblem } from "../names.ts";
import { AgentId, ModelSelection, Name, PageQuery, pageOf, RunId, Timestamp } from "./common.ts";
import { EnvVars } from "./env-vars.ts";
import { Prompt } from "./prompts.ts";
import { Run } from "./runs.ts";
import { McpServers } from "./servers.ts";
import { CustomSubagents } from "./subagents.ts";
import { Webhook } from "./webhooks.ts";

export const AgentMode = z.enum(["agent", "plan"]);
export type AgentMode = z.infer<typeof AgentMode>;

export const AgentEnv = z.strictObject({
  type: z.enum(["cloud", "pool", "machine"]),
  name: z
    .string()
    .min(1)
    .max(255)
    .refine((name) => !unprintable.test(name), unprintableProblem)
    .optional(),
  buildId: z.string().min(1).max(100).optional().describe("With cloud: the build to start from, also one that failed"),
});

export const Repository = z.strictObject({
  url: z.string().min(1).max(2000),
  startingRef: z.string().min(1).max(500).optional(),
  prUrl: z.string().min(1).max(2000).optional(),
});
export type Repository = z.infer<typeof Repository>;

export const Metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= 50, "at most 50 entries");

const agentOptions = {
  env: AgentEnv.optional(),
  repos: z.array(Repository).max(20).optional(),
  workOnCurrentBranch: z.boolean().optional(),
  autoCreatePR: z.boolean().optional(),
  skipReviewerRequest: z.boolean().optional(),
  openAsPlatformGithubApp: z.boolean().optional().describe("Open pull requests as the app, not as the user"),
  openAsCursorGithubApp: z.boolean().optional().describe("Older name of openAsPlatformGithubApp"),
  customSubagents: CustomSubagents.optional(),
  metadata: Metadata.optional(),
  recordRuns: z
    .boolean()
    .optional()
    .describe("Keep a recording of each run as the artifact recordings/RUN.jsonl, for agentcli replay"),
};

export const CreateAgent = z
  .strictObject({
    ...agentOptions,
    prompt: Prompt,
    model: ModelSelection.optional(),
    name: Name.optional(),
    envVars: EnvVars.optional(),
    runEnvVars: EnvVars.optional().describe("For the first run only; wins over envVars"),
    mcpServers: McpServers.optional(),
    mode: AgentMode.optional(),
    webhook: Webhook.optional().describe("Notified when a run of the agent ends"),
    agentId: AgentId.optional().describe("Chosen by the caller, so that creating twice makes one agent"),
    agentServeAgent: z.string().max(200).optional().describe("Ignored"),
  })
  .superRefine((body, context) => {
    if (body.agentId !== undefined && Object.keys(body.envVars ?? {}).length > 0)
      context.addIssue({ code: "custom", path: ["envVars"], message: "cannot be combined with agentId" });
    if (body.env !== undefined && body.env.type !== "cloud" && body.env.buildId !== undefined)
      context.addIssue({ code: "custom", path: ["env", "buildId"], message: "is for type cloud only" });
    if (
      body.env?.type === "cloud" &&
      (body.env.name ?? body.env.buildId) !== undefined &&
      (body.repos?.length ?? 0) > 0
    )
      context.addIssue({ code: "custom", path: ["repos"], message: "a named cloud environment brings its own repos" });
  });
export type CreateAgent = z.infer<typeof CreateAgent>;

export const ForkAgent = z
  .strictObject({
    prompt: Prompt,
    runId: RunId.optional().describe("The last run of the conversation to copy; absent: the last one that ended"),
    name: Name.optional(),
    model: ModelSelection.optional().describe("Absent: as the original's"),
    mode: AgentMode.optional(),
    autoCreatePR: z.boolean().optional().describe("Absent: as the original's"),
    metadata: Metadata.optional(),
  })
  .meta({ id: "ForkAgent" });
export type ForkAgent = z.infer<typeof ForkAgent>;

export const ForkQuery = z.object({ runId: RunId.optional() });

export const ForkPreview = z
  .object({
    runId: RunId.describe("The last run of the conversation that would be copied"),
    messages: z.int().nonnegative().describe("How many it has"),
    repositories: z.array(
      z.object({
        url: z.string(),
        commit: z.string().optional().describe("Absent: the starting point of the original, as it is now"),
        baseBranch: z.string().optional(),
      }),
    ),
    files: z.string().describe("For people: which files the fork starts with, and which are missing"),
  })
  .meta({ id: "ForkPreview" });
export type ForkPreview = z.infer<typeof ForkPreview>;

export const AgentStatus = z.enum(["ACTIVE", "IDLE", "ARCHIVED"]);

export const AgentListItem = z.object({
  id: AgentId,
  name: z.string().optional(),
  status: AgentStatus,
  env: AgentEnv.optional(),
  repos: z.array(Repository).optional(),
  metadata: Metadata.optional(),
  url: z.string().describe("Where people look at it"),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  latestRunId: z.string().optional(),
});
export type AgentListItem = z.infer<typeof AgentListItem>;

export const Agent = AgentListItem.extend({
  ...agentOptions,
  forkedFrom: z
    .object({ agentId: AgentId, runId: RunId.describe("The last run of the conversation that was copied") })
    .optional()
    .describe("Absent: it began with an empty conversation"),
});
export type Agent = z.infer<typeof Agent>;

export const AgentCreated = z.object({ agent: Agent, run: Run });

const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const AgentQuery = PageQuery.extend({
  prUrl: z.string().min(1).max(2000).optional(),
  includeArchived: flag.default(true),
  source: z.string().min(1).max(50).optional(),
});

export const AgentPage = pageOf(AgentListItem);

export const ConversationMessage = z.object({
  id: z.string().describe("The same whenever the conversation is read"),
  runId: RunId.describe("The run that it belongs to"),
  type: z.enum(["user_message", "assistant_message"]),
  text: z.string(),
  createdAt: Timestamp,
});
export type ConversationMessage = z.infer<typeof ConversationMessage>;

export const Conversation = z.object({ id: AgentId, messages: z.array(ConversationMessage) });
