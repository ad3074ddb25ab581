// Threads: requests that open, list, change and end them, and their shape.
import { z } from "zod";
import { JsonValue, maybe, pageOf, pageParams, whole } from "./maybe.ts";
import { ApprovalsReviewer, AskForApproval, SandboxMode, SandboxPolicy } from "./policies.ts";
import { Turn } from "./turns.ts";

export const ThreadStatus = z.discriminatedUnion("type", [
  z.object({ type: z.literal("notLoaded") }),
  z.object({ type: z.literal("idle") }),
  z.object({ type: z.literal("systemError") }),
  z.object({
    type: z.literal("active"),
    activeFlags: z.array(z.enum(["waitingOnApproval", "waitingOnUserInput"])),
  }),
]);
export type ThreadStatus = z.infer<typeof ThreadStatus>;

export const SessionSource = z.union([
  z.enum(["cli", "vscode", "exec", "appServer", "unknown"]),
  z.object({ custom: z.string() }),
  z.object({
    subAgent: z.union([
      z.enum(["review", "compact", "memory_consolidation"]),
      z.object({
        thread_spawn: z.object({
          parent_thread_id: z.string(),
          depth: whole,
          agent_path: maybe(z.string()),
          agent_nickname: maybe(z.string()),
          agent_role: maybe(z.string()),
        }),
      }),
      z.object({ other: z.string() }),
    ]),
  }),
]);
export type SessionSource = z.infer<typeof SessionSource>;

export const GitInfo = z.object({
  sha: maybe(z.string()),
  branch: maybe(z.string()),
  originUrl: maybe(z.string()),
});
export type GitInfo = z.infer<typeof GitInfo>;

export const Thread = z.object({
  id: z.string(),
  sessionId: z.string(),
  forkedFromId: maybe(z.string()),
  parentThreadId: maybe(z.string()),
  preview: z.string(),
  ephemeral: z.boolean(),
  modelProvider: z.string(),
  createdAt: whole.describe("Seconds since 1970"),
  updatedAt: whole.describe("Seconds since 1970"),
  recencyAt: maybe(whole),
  status: ThreadStatus,
  path: maybe(z.string()),
  cwd: z.string(),
  cliVersion: z.string(),
  source: SessionSource,
  threadSource: maybe(z.string()),
  agentNickname: maybe(z.string()),
  agentRole: maybe(z.string()),
  gitInfo: maybe(GitInfo),
  name: maybe(z.string()),
  turns: z.array(Turn),
  projectId: z.string().nullable(),
  section: maybe(JsonValue),
  sectionEnteredAt: maybe(whole),
});
export type Thread = z.infer<typeof Thread>;

/** Options of every request that opens a thread. */
const overrides = {
  model: maybe(z.string()),
  modelProvider: maybe(z.string()),
  cwd: maybe(z.string()),
  approvalPolicy: maybe(AskForApproval),
  approvalsReviewer: maybe(ApprovalsReviewer),
  sandbox: maybe(SandboxMode),
  config: maybe(z.record(z.string(), JsonValue)).describe("Configuration keys, dotted or nested"),
  baseInstructions: maybe(z.string()),
  developerInstructions: maybe(z.string()),
  personality: maybe(z.enum(["none", "friendly", "pragmatic"])),
  serviceTier: maybe(z.string()),
  threadSource: maybe(z.string()),
};

export const ThreadStartParams = z.object({
  ...overrides,
  ephemeral: maybe(z.boolean()),
  serviceName: maybe(z.string()),
  sessionStartSource: maybe(z.enum(["startup", "clear"])),
});
export type ThreadStartParams = z.infer<typeof ThreadStartParams>;

export const ThreadStartResponse = z.object({
  thread: Thread,
  model: z.string(),
  modelProvider: z.string(),
  serviceTier: maybe(z.string()),
  cwd: z.string(),
  instructionSources: z.array(z.string()),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  sandbox: SandboxPolicy,
  reasoningEffort: maybe(z.string()),
});
export type ThreadStartResponse = z.infer<typeof ThreadStartResponse>;

export const ThreadResumeParams = z.object({ threadId: z.string(), ...overrides });
export type ThreadResumeParams = z.infer<typeof ThreadResumeParams>;

export const ThreadForkParams = z.object({
  threadId: z.string(),
  lastTurnId: maybe(z.string()),
  ephemeral: maybe(z.boolean()),
  ...overrides,
});
export type ThreadForkParams = z.infer<typeof ThreadForkParams>;

export const ThreadIdParams = z.object({ threadId: z.string() });
export const ThreadReadParams = z.object({ threadId: z.string(), includeTurns: maybe(z.boolean()) });
export const ThreadReadResponse = z.object({ thread: Thread });

export const ThreadListParams = z.object({
  ...pageParams,
  sortKey: maybe(z.enum(["created_at", "updated_at", "recency_at", "section_position"])),
  sortDirection: maybe(z.enum(["asc", "desc"])),
  modelProviders: maybe(z.array(z.string())),
  sourceKinds: maybe(z.array(z.string())),
  archived: maybe(z.boolean()),
  cwd: maybe(z.union([z.string(), z.array(z.string())])),
  searchTerm: maybe(z.string()),
  sectionId: maybe(z.string()),
  useStateDbOnly: maybe(z.boolean()),
});
export type ThreadListParams = z.infer<typeof ThreadListParams>;
export const ThreadListResponse = pageOf(Thread).extend({ backwardsCursor: maybe(z.string()) });

export const ThreadLoadedListParams = z.object(pageParams);
export const ThreadLoadedListResponse = pageOf(z.string());

export const ThreadUnsubscribeResponse = z.object({
  status: z.enum(["notLoaded", "notSubscribed", "unsubscribed"]),
});
export const ThreadSetNameParams = z.object({ threadId: z.string(), name: z.string() });
export const ThreadMetadataUpdateParams = z.object({
  threadId: z.string(),
  gitInfo: maybe(GitInfo).describe("An absent member is kept, null clears it"),
});
export const ThreadRollbackParams = z.object({ threadId: z.string(), numTurns: whole.min(1) });
export const ThreadInjectItemsParams = z.object({ threadId: z.string(), items: z.array(JsonValue) });
export const ThreadShellCommandParams = z.object({ threadId: z.string(), command: z.string() });
