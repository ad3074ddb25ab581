// Automations: agents that are started by schedules, webhooks and people, and the record of every firing.
import { z } from "zod";
import { unprintable, unprintableProblem } from "../names.ts";
import { firingStatuses } from "../outcomes.ts";
import { ModelSelection, PageQuery, pageOf, Timestamp } from "./common.ts";
import { RunStatus } from "./runs.ts";
import { McpServers } from "./servers.ts";

const AutomationName = z
  .string()
  .min(1)
  .max(100)
  .refine((name) => !unprintable.test(name), unprintableProblem);

export const AutomationScope = z
  .enum(["private", "team_visible", "team_owned"])
  .describe("private and team_visible run as their user; team_owned as the team's service account automations");
export type AutomationScope = z.infer<typeof AutomationScope>;

const Scalar = z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]);

/** By path, such as `issue.state`: the value, or several of which one has to be there. */
export const PayloadFilter = z
  .record(z.string().min(1).max(200), z.union([Scalar, z.array(Scalar).min(1).max(50)]))
  .refine((filter) => Object.keys(filter).length <= 20, "at most 20 entries");
export type PayloadFilter = z.infer<typeof PayloadFilter>;

const CronTrigger = z.strictObject({
  type: z.literal("cron"),
  cron: z.string().min(1).max(200).describe("Five fields, or @hourly, @daily, @weekdays, @weekly, @monthly"),
  timezone: z.string().min(1).max(100).default("UTC").describe("IANA name, such as Europe/Berlin"),
});
const WebhookTrigger = z.strictObject({
  type: z.literal("webhook"),
  filter: PayloadFilter.optional().describe("Members that the JSON body must have; other bodies are skipped"),
});

export const GithubEvent = z.enum([
  "pull_request.draft_opened",
  "pull_request.opened",
  "pull_request.pushed",
  "pull_request.merged",
  "push",
  "pull_request.comment",
  "pull_request.label_changed",
  "issue.label_changed",
  "check.completed",
  "issue.comment",
  "review_comment",
  "review.submitted",
  "review_thread.updated",
  "workflow_run.completed",
]);
export type GithubEvent = z.infer<typeof GithubEvent>;

const GithubTrigger = z.strictObject({
  type: z.literal("github"),
  event: GithubEvent,
  repos: z
    .array(z.string().min(1).max(2000))
    .min(1)
    .max(50)
    .describe("Addresses of repositories, on GitHub or of the embedded git host"),
  branches: z
    .array(z.string().min(1).max(200))
    .max(50)
    .optional()
    .describe("The base of a pull request, or the branch that was pushed or checked; * stands for any text"),
  paths: z
    .array(z.string().min(1).max(500))
    .max(50)
    .optional()
    .describe(
      "Of pushes and pull requests: globs of changed files, such as docs/** and !docs/old/**; the last that matches decides, and one file is enough",
    ),
  label: z.string().min(1).max(200).optional().describe("Left out: any label"),
  labelAction: z.enum(["added", "removed", "any"]).optional(),
  keyword: z.string().min(1).max(200).optional().describe("In the text of the event, whatever its case"),
  conclusion: z.string().min(1).max(50).optional().describe("Of checks and workflows: success, failure, …"),
});

export const AutomationTrigger = z.discriminatedUnion("type", [CronTrigger, WebhookTrigger, GithubTrigger]);
export type AutomationTrigger = z.infer<typeof AutomationTrigger>;

const targetEnv = z
  .strictObject({
    type: z.enum(["cloud", "pool", "machine"]),
    name: AutomationName.optional().describe("Of the pool or the machine; left out: the default one"),
  })
  .refine(({ type, name }) => type !== "cloud" || name === undefined, {
    path: ["name"],
    message: 'is of a pool or a machine; for an environment use a target of the type "environment"',
  })
  .optional()
  .describe("Where its runs work; left out: on the platform");

const AutomationTarget = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("none"), env: targetEnv }),
  z.strictObject({
    type: z.literal("repo"),
    repoUrl: z.string().min(1).max(2000),
    branch: z.string().min(1).max(500).optional(),
    env: targetEnv,
  }),
  z.strictObject({
    type: z.literal("environment"),
    name: AutomationName.describe("Of the environment, which brings its repositories"),
  }),
]);

export const MissedPolicy = z
  .enum(["catch_up", "skip", "alert"])
  .describe(
    "What happens to planned firings while no server ran: the latest runs late, none does, or none and an alert",
  );
export type MissedPolicy = z.infer<typeof MissedPolicy>;

const noChat = "this platform is connected to no chat; set it to false or leave it out";

/** Part of the wire; nothing of the platform provides it. */
const absentTool = (message: string) =>
  z
    .boolean()
    .refine((isWanted) => !isWanted, message)
    .optional()
    .describe("Not available yet: false, or left out");

const AutomationTools = z.strictObject({
  createPullRequest: z.boolean().default(true).describe("Open a draft pull request with the changes of the run"),
  commentOnPullRequest: z
    .strictObject({
      enabled: z.boolean().default(false).describe("Comment on pull requests of the target, as a whole or on a line"),
      allowApprovals: z
        .boolean()
        .default(false)
        .describe(
          "Also approve, request changes and dismiss reviews; on pull requests of this automation itself only with allowOwnPullRequests",
        ),
      allowOwnPullRequests: z
        .boolean()
        .optional()
        .describe(
          "With allowApprovals: also on pull requests that runs of this automation opened. Left out: false, a person decides on those",
        ),
    })
    .refine(({ allowApprovals, allowOwnPullRequests }) => allowApprovals || allowOwnPullRequests !== true, {
      path: ["allowOwnPullRequests"],
      message: "needs allowApprovals",
    })
    .optional(),
  requestReviewers: z.boolean().optional().describe("Ask people for reviews, with the reason; left out: false"),
  memories: z.boolean().optional().describe("Notes that runs keep for later runs; left out: true"),
  mcpServers: McpServers.optional().describe(
    "MCP servers of its runs. Values of headers and env are shown as ***, which keeps them where it is sent back",
  ),
  sendToChat: z
    .strictObject({ enabled: z.boolean().default(false), channel: z.string().max(200).nullable().optional() })
    .refine(({ enabled }) => !enabled, { path: ["enabled"], message: noChat })
    .optional()
    .describe("Not available yet: false, or left out"),
  readChat: absentTool(noChat),
  computerUse: absentTool("this platform gives runs no desktop; set it to false or leave it out"),
});

const Usd = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, "must be an amount such as 2.50")
  .refine((amount) => Number(amount) > 0, "must be more than 0");

export const AutomationLimits = z.strictObject({
  concurrent: z.int().min(1).max(1000).optional().describe("Runs at the same time; left out: any number"),
  whenBusy: z
    .enum(["queue", "drop", "replace"])
    .default("queue")
    .describe("A firing while so many runs are active: it waits, it is skipped, or the oldest run is cancelled for it"),
  startsPerHour: z.int().min(1).max(100_000).optional().describe("Further firings are skipped"),
  usdPerRun: Usd.optional().describe("US dollars that one run may cost, with its sub-agents; it is stopped there"),
  usdPerDay: Usd.optional().describe(
    "US dollars of all runs that start on one day (UTC); running ones count with usdPerRun",
  ),
});
export type AutomationLimits = z.infer<typeof AutomationLimits>;

const definition = {
  description: z.string().max(2000),
  prompt: z.strictObject({ text: z.string().min(1).max(200_000) }),
  model: ModelSelection,
  triggers: z.array(AutomationTrigger).max(20),
  target: AutomationTarget,
  tools: AutomationTools,
  missed: MissedPolicy,
  limits: AutomationLimits,
  shadow: z
    .boolean()
    .describe(
      "Runs propose only: comments, reviews, memories and changes of files are recorded with the firing, not made",
    ),
};

export const CreateAutomation = z.strictObject({
  ...definition,
  name: AutomationName,
  scope: AutomationScope.default("private"),
  enabled: z.boolean().default(true),
  description: definition.description.default(""),
  model: definition.model.optional().describe("Left out: the default of the user or the team"),
  triggers: definition.triggers.min(1),
  target: definition.target.default({ type: "none" }),
  tools: definition.tools.default({ createPullRequest: true }),
  missed: definition.missed.default("catch_up"),
  limits: definition.limits.default({ whenBusy: "queue" }),
  shadow: definition.shadow.default(false),
});
export type CreateAutomation = z.infer<typeof CreateAutomation>;

/** Members that are left out stay as they are. */
export const ChangeAutomation = z
  .strictObject({
    ...definition,
    name: AutomationName,
    model: definition.model.nullable().describe("null: the default of the user or the team"),
    triggers: definition.triggers.min(1),
    scope: AutomationScope.describe(
      "To team_owned: it then runs as the service account of the team, and its webhook keys are revoked. Not back.",
    ),
  })
  .partial();
export type ChangeAutomation = z.infer<typeof ChangeAutomation>;

export const DisableAutomation = z.strictObject({
  cancelRuns: z.boolean().default(false).describe("Also cancel the runs that it has started and that are active"),
});

const shownTrigger = { id: z.string().describe("trg-<uuid>") };

export const Automation = z.object({
  ...definition,
  id: z.string().describe("auto-<uuid>"),
  name: z.string(),
  enabled: z.boolean(),
  disabledReason: z.string().optional().describe("Why it is disabled"),
  disabledAt: Timestamp.optional().describe("Since when it is disabled"),
  scope: AutomationScope,
  ownerUserId: z.int().optional().describe("Absent for team_owned"),
  teamId: z.int(),
  model: definition.model.optional(),
  triggers: z.array(
    z.discriminatedUnion("type", [
      CronTrigger.extend(shownTrigger),
      WebhookTrigger.extend(shownTrigger),
      GithubTrigger.extend(shownTrigger),
    ]),
  ),
  webhook: z
    .object({ url: z.string(), keyPrefixes: z.array(z.string()) })
    .optional()
    .describe("Where webhooks are sent, if it has such a trigger"),
  nextFiringAt: Timestamp.optional(),
  lastRunAt: Timestamp.optional(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Automation = z.infer<typeof Automation>;
export const AutomationPage = pageOf(Automation);

export { firingWords } from "../outcomes.ts";
export const FiringStatus = z.enum(firingStatuses);
export type FiringStatus = z.infer<typeof FiringStatus>;

export const Firing = z.object({
  id: z.string().describe("fire-<uuid>"),
  automationId: z.string(),
  source: z.enum(["schedule", "webhook", "manual", "github", "git_host"]).describe("git_host: the embedded one"),
  triggerId: z.string().optional(),
  status: FiringStatus,
  reason: z.string().optional().describe("Why it waits, was skipped, missed, replaced or could not start"),
  plannedAt: Timestamp.describe("A run never starts before it"),
  decidedAt: Timestamp.optional().describe("When it started, or was skipped"),
  agentId: z.string().optional(),
  runId: z.string().optional(),
  runStatus: RunStatus.optional().describe("How its run ended, once it has"),
  causedBy: z.string().optional().describe("The firing whose run caused the event"),
  shadow: z.literal(true).optional().describe("Its run only proposes; absent: it acts"),
  recovered: z
    .boolean()
    .optional()
    .describe("true: the delivery of its event never came, and the platform asked the host for it"),
});
export type Firing = z.infer<typeof Firing>;
export const FiringQuery = PageQuery.extend({ status: FiringStatus.optional() });
export const FiringPage = pageOf(Firing);

export const AutomationAlert = z.object({
  id: z.string(),
  kind: z.enum(["missed", "overdue", "failed_to_start", "run_failed", "disabled", "limit_reached"]),
  message: z.string(),
  firingId: z.string().optional(),
  createdAt: Timestamp,
});
export type AutomationAlert = z.infer<typeof AutomationAlert>;
export const AutomationAlertPage = pageOf(AutomationAlert);

export const CreateEventSource = z.strictObject({ type: z.literal("github"), name: AutomationName });
export const EventSource = z.object({
  id: z.string(),
  type: z.literal("github"),
  name: z.string(),
  url: z.string().describe("The payload URL of the webhook on the host"),
  createdAt: Timestamp,
});
export type EventSource = z.infer<typeof EventSource>;
export const EventSourceCreated = EventSource.extend({ secret: z.string().describe("Shown only here") });
export const EventSourceList = z.object({ items: z.array(EventSource) });

export const CreateWebhookKey = z.strictObject({ name: AutomationName.optional() });
export const WebhookKeyCreated = z.object({
  id: z.string(),
  name: z.string(),
  apiKey: z.string().describe("Shown only here"),
  url: z.string(),
});

export const DryRunAutomation = z.strictObject({
  events: z.int().min(1).max(200).default(50).describe("How many of the latest stored events of the team to look at"),
});
export const DryRunResult = z.object({
  looked: z.int().describe("Stored events that were looked at"),
  items: z
    .array(
      z.object({
        event: z.string(),
        repository: z.string(),
        receivedAt: Timestamp,
        outcome: z.enum(["start", "skip"]),
        reason: z.string().optional().describe("Why it would be skipped"),
        prompt: z.string().optional().describe("Of the run that would start"),
      }),
    )
    .describe("Those that a trigger of the automation wants, latest first"),
});
export type DryRunResult = z.infer<typeof DryRunResult>;

const memoryEntry = {
  name: z.string(),
  version: z.int(),
  bytes: z.int(),
  author: z.string().describe("A person, or agent:<id>"),
  updatedAt: Timestamp,
};
export const WriteMemory = z.strictObject({ text: z.string().max(65_536).describe("At most 64 KB") });
export const AutomationMemory = z.object({ ...memoryEntry, text: z.string() });
export const AutomationMemoryList = z.object({ items: z.array(z.object(memoryEntry)) });
export const AutomationMemoryHistory = z.object({
  items: z.array(z.object({ ...memoryEntry, text: z.string().optional() })),
});

/** Of `POST /automations/webhook/{uuid}`. */
export const WebhookAnswer = z.union([
  z.object({
    success: z.literal(true),
    firingId: z.string(),
    agentId: z.string(),
    runId: z.string(),
    url: z.string(),
  }),
  z.object({ success: z.literal(true), firingId: z.string(), skipped: z.literal(true), reason: z.string() }),
  z.object({ success: z.literal(true), firingId: z.string(), queued: z.literal(true), reason: z.string() }),
  z.object({ success: z.literal(false), error: z.string() }),
]);
export type WebhookAnswer = z.infer<typeof WebhookAnswer>;
