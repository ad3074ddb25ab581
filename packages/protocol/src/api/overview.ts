// Agents as people look at them: with their last run, owner, pull requests and cost, and what the caller may do.
import { z } from "zod";
import { Agent, AgentListItem } from "./agents.ts";
import { Artifact } from "./artifacts.ts";
import { PageQuery, pageOf, Timestamp } from "./common.ts";
import { Run } from "./runs.ts";
import { Cost } from "./usage.ts";

export const AgentOwner = z.object({
  kind: z.enum(["user", "service_account", "removed"]),
  name: z.string().describe("The address of a user, the name of a service account"),
  isCaller: z.boolean(),
});
export type AgentOwner = z.infer<typeof AgentOwner>;

export const PullRequestLink = z.object({
  url: z.string(),
  page: z.string().optional().describe("The path of its page here, for the embedded git host"),
  number: z.int().optional(),
  state: z.enum(["draft", "open", "merged", "closed"]).optional().describe("Absent where only its host knows"),
});
export type PullRequestLink = z.infer<typeof PullRequestLink>;

/** `needs_you`: the last run failed, or left a pull request that is still open. */
export const AgentGroup = z.enum(["needs_you", "running", "finished"]);
export type AgentGroup = z.infer<typeof AgentGroup>;

const LatestRun = Run.pick({
  id: true,
  status: true,
  createdAt: true,
  durationMs: true,
  model: true,
  error: true,
});

const shown = {
  group: AgentGroup,
  owner: AgentOwner,
  source: z.string().describe("What created it: API, SDK, WEBSITE"),
  latestRun: LatestRun.optional(),
  branch: z.string().optional().describe("What it pushed last"),
  lines: z
    .object({ added: z.int().nonnegative(), removed: z.int().nonnegative() })
    .optional()
    .describe("What its commits change, without binary files; absent before the first"),
  pullRequests: z.array(PullRequestLink),
  cost: Cost.optional().describe("Of all runs; absent where a price is not known"),
};

export const AgentOverview = AgentListItem.extend(shown);
export type AgentOverview = z.infer<typeof AgentOverview>;

const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const AgentOverviewQuery = PageQuery.extend({
  includeArchived: flag.default(false),
  includeSdk: flag.default(false).describe("Also those that programs created with the SDK"),
});

export const AgentOverviewPage = pageOf(AgentOverview);
export type AgentOverviewPage = z.infer<typeof AgentOverviewPage>;

export const AgentPermissions = z.object({
  followUp: z.boolean(),
  cancel: z.boolean().describe("The latest run"),
  manage: z.boolean().describe("Archive and delete"),
  notice: z.string().optional().describe("Whose agent it is and what that means; absent for the owner"),
});
export type AgentPermissions = z.infer<typeof AgentPermissions>;

export const RunWithPrompt = Run.extend({ prompt: z.string(), cost: Cost.optional() });
export type RunWithPrompt = z.infer<typeof RunWithPrompt>;

export const AgentDetails = Agent.extend({
  ...shown,
  permissions: AgentPermissions,
  runs: z.array(RunWithPrompt).describe("The newest 100, newest first"),
  artifacts: z.array(Artifact),
});
export type AgentDetails = z.infer<typeof AgentDetails>;

export const HostedRepositoryEntry = z.object({
  name: z.string(),
  url: z.string().describe("What git clones, and what an agent is created with"),
  defaultBranch: z.string(),
});

export const HostedRepositoryList = z.object({ items: z.array(HostedRepositoryEntry) });
export type HostedRepositoryList = z.infer<typeof HostedRepositoryList>;

export const NewRepository = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Letters, digits, dots, dashes and underscores"),
    importUrl: z
      .string()
      .min(1)
      .max(2048)
      .optional()
      .describe("Its branches and tags are copied from this git URL, as far as agents of the caller may read it"),
  })
  .meta({ id: "NewRepository" });

export const FleetOverview = z
  .object({
    workers: z.array(
      z.object({
        ...{ id: z.string(), name: z.string(), version: z.string() },
        isInUse: z.boolean().describe("An agent with an active run has it"),
        isCaller: z.boolean().describe("A machine of the caller"),
        connectedAt: Timestamp,
        pool: z.string().optional().describe("Absent: a personal machine"),
        repository: z.string().optional(),
      }),
    ),
    pools: z.array(
      z.object({
        name: z.string(),
        connected: z.int().nonnegative(),
        inUse: z.int().nonnegative(),
        lastSeenAt: Timestamp,
        repository: z.string().optional(),
      }),
    ),
  })
  .meta({ id: "FleetOverview" });
export type FleetOverview = z.infer<typeof FleetOverview>;
