// Requests of the server to a client: approvals and questions to the user.
import { z } from "zod";
import { CommandAction, DynamicToolContent } from "./items.ts";
import { JsonValue, maybe, whole } from "./maybe.ts";

const itemIds = { threadId: z.string(), turnId: z.string(), itemId: z.string() };
const NetworkPolicyAmendment = z.object({ host: z.string(), action: z.enum(["allow", "deny"]) });

export const CommandExecutionApprovalDecision = z.union([
  z.enum(["accept", "acceptForSession", "decline", "cancel"]),
  z.object({ acceptWithExecpolicyAmendment: z.object({ execpolicy_amendment: z.array(z.string()) }) }),
  z.object({ applyNetworkPolicyAmendment: z.object({ network_policy_amendment: NetworkPolicyAmendment }) }),
]);
export type CommandExecutionApprovalDecision = z.infer<typeof CommandExecutionApprovalDecision>;

export const CommandExecutionRequestApprovalParams = z.object({
  ...itemIds,
  startedAtMs: whole,
  approvalId: maybe(z.string()),
  environmentId: maybe(z.string()),
  reason: maybe(z.string()),
  command: maybe(z.string()),
  cwd: maybe(z.string()),
  commandActions: maybe(z.array(CommandAction)),
  networkApprovalContext: maybe(z.object({ host: z.string(), protocol: z.string() })),
  proposedExecpolicyAmendment: maybe(z.array(z.string())),
  proposedNetworkPolicyAmendments: maybe(z.array(NetworkPolicyAmendment)),
  availableDecisions: maybe(z.array(CommandExecutionApprovalDecision)),
});
const reason = maybe(z.string()).describe("Why not, in words of the user: the model reads it");
export const CommandExecutionRequestApprovalResponse = z.object({
  decision: CommandExecutionApprovalDecision,
  reason,
});

export const FileChangeRequestApprovalParams = z.object({
  ...itemIds,
  startedAtMs: whole,
  reason: maybe(z.string()),
  grantRoot: maybe(z.string()),
});
export const FileChangeRequestApprovalResponse = z.object({
  decision: z.enum(["accept", "acceptForSession", "decline", "cancel"]),
  reason,
  refusedHunks: maybe(z.array(whole)).describe(
    "With accept: hunks that are not applied, counted from 0 over the changes of the item; an added or deleted file is one",
  ),
});

const FileSystemPermissions = z.object({
  read: maybe(z.array(z.string())),
  write: maybe(z.array(z.string())),
});
const Permissions = z.object({
  fileSystem: maybe(FileSystemPermissions),
  network: maybe(z.object({ enabled: maybe(z.boolean()) })),
});
export const PermissionsRequestApprovalParams = z.object({
  ...itemIds,
  environmentId: maybe(z.string()),
  startedAtMs: whole,
  cwd: z.string(),
  reason: maybe(z.string()),
  permissions: Permissions,
});
export const PermissionsRequestApprovalResponse = z.object({
  permissions: Permissions,
  scope: maybe(z.enum(["turn", "session"])),
});

export const ToolRequestUserInputParams = z.object({
  ...itemIds,
  questions: z.array(
    z.object({
      id: z.string(),
      header: z.string(),
      question: z.string(),
      options: maybe(z.array(z.object({ label: z.string(), description: z.string() }))),
      isOther: maybe(z.boolean()),
      isSecret: maybe(z.boolean()),
    }),
  ),
  isBlocking: z.boolean(),
  autoResolutionMs: maybe(whole),
});
export const ToolRequestUserInputResponse = z.object({
  answers: z.record(z.string(), z.object({ answers: z.array(z.string()) })),
});

export const DynamicToolCallParams = z.object({
  threadId: z.string(),
  turnId: z.string(),
  callId: z.string(),
  namespace: maybe(z.string()),
  tool: z.string(),
  arguments: JsonValue,
});
export const DynamicToolCallResponse = z.object({
  contentItems: z.array(DynamicToolContent),
  success: z.boolean(),
});

const asking = { threadId: z.string(), turnId: maybe(z.string()), serverName: z.string(), message: z.string() };
export const McpServerElicitationRequestParams = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("form"), ...asking, _meta: maybe(JsonValue), requestedSchema: JsonValue }),
  z.object({
    mode: z.literal("url"),
    ...asking,
    _meta: maybe(JsonValue),
    url: z.string(),
    elicitationId: z.string(),
  }),
]);
export const McpServerElicitationRequestResponse = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: maybe(JsonValue),
});
