// Workers and pools: what runs on machines of customers, which requests wait for one, and who has claimed which.
import { z } from "zod";
import { WorkerName } from "../worker-link.ts";
import { AgentId, largestPage, Timestamp } from "./common.ts";

const milliseconds = z.int().nonnegative();
const workerId = z.string().regex(/^[\w.-]{1,128}$/, "at most 128 letters, digits, dots, dashes and underscores");
const repositoryPart = z.string().min(1).max(200);
const repository = {
  repoOwner: z.string().optional(),
  repoName: z.string().optional(),
  repoUrl: z.string().optional(),
};

const Page = z.strictObject({
  limit: z.coerce.number().int().min(1).max(largestPage).default(50),
  pageToken: z.string().min(1).max(512).optional(),
});
const nextPageToken = z.string().optional().describe("Absent on the last page");

export const Worker = z
  .object({
    workerId: z.string(),
    name: z.string().optional(),
    isInUse: z.boolean().describe("An agent with an active run has it"),
    activeBcId: z.string().optional().describe("That agent"),
    ...repository,
    repoOwner: z.string().describe("Empty: of no repository"),
    repoName: z.string(),
    workspaceRootPath: z.string(),
    connectedAtMs: milliseconds,
    userId: z.int().describe("Whose machine it is; 0: of a service account"),
    teamId: z.int().optional(),
    serviceAccountId: z.string().optional(),
    pool: z.string().optional().describe("Absent: a personal machine"),
    labels: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    version: z.string().describe("Of its program"),
  })
  .meta({ id: "Worker" });
export type Worker = z.infer<typeof Worker>;

export const WorkerQuery = Page.extend({
  status: z.enum(["all", "in_use", "idle"]).default("all"),
  scope: z.enum(["all", "team_pool", "personal"]).default("all"),
});
export type WorkerQuery = z.infer<typeof WorkerQuery>;

export const WorkerList = z.object({ workers: z.array(Worker), totalCount: z.int().nonnegative(), nextPageToken });
export type WorkerList = z.infer<typeof WorkerList>;

const Counts = z.object({ totalConnected: z.int().nonnegative(), inUse: z.int().nonnegative() });
export const WorkerSummary = z.object({
  teamSummary: Counts.describe("Of the team's pools"),
  userSummary: Counts.describe("Of the personal machines of the team's users"),
});
export type WorkerSummary = z.infer<typeof WorkerSummary>;

const scope = z.enum(["user", "team"]).describe("user: of this service account alone");

export const WorkerPool = z
  .object({
    scope,
    ownerId: z.int().describe("Of the team; 0: of a service account"),
    poolName: z.string(),
    connectedWorkerCount: z.int().nonnegative(),
    inUseWorkerCount: z.int().nonnegative(),
    firstSeenAtMs: milliseconds,
    lastSeenAtMs: milliseconds,
    isStale: z.boolean().describe("No worker was connected for a week"),
    ...repository,
    workerReadyTimeoutSeconds: z.int().nonnegative(),
  })
  .meta({ id: "WorkerPool" });
export type WorkerPool = z.infer<typeof WorkerPool>;

export const WorkerPoolQuery = z.strictObject({
  scope: scope.optional(),
  includeStale: z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }).default(false),
});
export const WorkerPoolList = z.object({ pools: z.array(WorkerPool) });

const bothOrNeither = "repoOwner and repoName are given together";

export const RegisterPool = z
  .strictObject({
    scope,
    poolName: WorkerName,
    repoOwner: repositoryPart.optional(),
    repoName: repositoryPart.optional(),
    repoUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    workerReadyTimeoutSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(0)
      .describe("How long a run waits for the claimed worker to connect again; 0: it is not waited for"),
  })
  .refine(({ repoOwner, repoName }) => (repoOwner === undefined) === (repoName === undefined), bothOrNeither);
export type RegisterPool = z.infer<typeof RegisterPool>;
export const PoolRegistered = z.object({ registered: z.literal(true) });

export const DeregisterPool = z
  .strictObject({
    scope,
    pool_name: WorkerName,
    repo_owner: repositoryPart.optional(),
    repo_name: repositoryPart.optional(),
  })
  .refine(({ repo_owner, repo_name }) => (repo_owner === undefined) === (repo_name === undefined), bothOrNeither);
export type DeregisterPool = z.infer<typeof DeregisterPool>;
export const PoolDeregistered = z.object({ deregistered: z.literal(true) });

export const PendingRequest = z
  .object({
    id: AgentId,
    userId: z.int().describe("0: of a service account"),
    userEmail: z.string().optional(),
    serviceAccountId: z.string().optional(),
    ...repository,
    labels: z.array(z.object({ key: z.string(), value: z.string() })),
    createdAtMs: milliseconds,
    claimedWorkerId: z.string().optional().describe("It is claimed; its worker is to connect again"),
    wakeTimeoutMs: milliseconds.optional().describe("How long that is waited for"),
  })
  .meta({ id: "PendingRequest" });
export type PendingRequest = z.infer<typeof PendingRequest>;

const filters = {
  repository: z.string().min(1).max(2_000).optional().describe("Address of a repository, with or without scheme"),
  pool: z.string().min(1).max(255).optional().describe("Exact, case-sensitive"),
};
export const PendingQuery = Page.extend(filters);
export type PendingQuery = z.infer<typeof PendingQuery>;
export const PendingList = z.object({
  requests: z.array(PendingRequest),
  nextPageToken,
  streamCursor: z.string().describe("Where the stream goes on from this list; valid for five minutes"),
});
export type PendingList = z.infer<typeof PendingList>;
export const PendingStreamQuery = z.strictObject({
  cursor: z.string().min(1).max(512).optional().describe("streamCursor of the list; Last-Event-ID wins over it"),
  ...filters,
});

export const ClaimRequest = z.strictObject({
  id: AgentId,
  workerId,
  sessionToken: z.boolean().optional().describe("Answer a token that connects this worker, and nothing else"),
});
export type ClaimRequest = z.infer<typeof ClaimRequest>;
export const ClaimTokenRequest = z.strictObject({ id: AgentId, workerId });
const claim = { id: z.string(), workerId: z.string() };
export const Claim = z.object(claim);
export type Claim = z.infer<typeof Claim>;
export const ClaimAnswer = z.object({ ...claim, token: z.string().optional(), expiresAt: Timestamp.optional() });
export type ClaimAnswer = z.infer<typeof ClaimAnswer>;
export const ClaimToken = z.object({ ...claim, token: z.string(), expiresAt: Timestamp });
export type ClaimToken = z.infer<typeof ClaimToken>;

export const maxFailureLength = 500;
export const FailRequest = z.strictObject({
  message: z
    .string()
    .max(10_000)
    .transform((text) => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim())
    .pipe(z.string().min(1).max(maxFailureLength))
    .describe("1 to 500 characters, control characters not counted"),
});

export const SubTokenRequest = z
  .strictObject({ forUserEmail: z.string().min(1).max(320).optional(), forUserId: z.int().positive().optional() })
  .refine(
    ({ forUserEmail, forUserId }) => (forUserEmail === undefined) !== (forUserId === undefined),
    "give exactly one of forUserEmail and forUserId",
  );
export const SubToken = z.object({
  accessToken: z.string(),
  expiresAt: Timestamp,
  userId: z.int(),
  teamId: z.int(),
});
