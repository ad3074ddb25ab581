// Every method of the app server in four tables: dispatch, types and the published schemas are derived from them.
import type { z } from "zod";
import * as accounts from "./accounts.ts";
import * as approvals from "./approvals.ts";
import * as catalogues from "./catalogues.ts";
import * as commands from "./commands.ts";
import * as configuration from "./configuration.ts";
import * as files from "./files.ts";
import { EmptyResponse, InitializeParams, InitializeResponse, NoParams } from "./handshake.ts";
import * as notifications from "./notifications.ts";
import * as threads from "./threads.ts";
import * as turns from "./turns.ts";

interface Call {
  params: z.ZodType;
  result: z.ZodType;
}

const { ThreadIdParams, ThreadReadResponse, ThreadStartResponse } = threads;

/** Requests of a client. A method that the program does not implement is refused by name. */
export const clientRequests = {
  initialize: { params: InitializeParams, result: InitializeResponse },

  "thread/start": { params: threads.ThreadStartParams, result: ThreadStartResponse },
  "thread/resume": { params: threads.ThreadResumeParams, result: ThreadStartResponse },
  "thread/fork": { params: threads.ThreadForkParams, result: ThreadStartResponse },
  "thread/read": { params: threads.ThreadReadParams, result: ThreadReadResponse },
  "thread/list": { params: threads.ThreadListParams, result: threads.ThreadListResponse },
  "thread/loaded/list": { params: threads.ThreadLoadedListParams, result: threads.ThreadLoadedListResponse },
  "thread/archive": { params: ThreadIdParams, result: EmptyResponse },
  "thread/unarchive": { params: ThreadIdParams, result: ThreadReadResponse },
  "thread/delete": { params: ThreadIdParams, result: EmptyResponse },
  "thread/unsubscribe": { params: ThreadIdParams, result: threads.ThreadUnsubscribeResponse },
  "thread/name/set": { params: threads.ThreadSetNameParams, result: EmptyResponse },
  "thread/metadata/update": { params: threads.ThreadMetadataUpdateParams, result: ThreadReadResponse },
  "thread/rollback": { params: threads.ThreadRollbackParams, result: ThreadReadResponse },
  "thread/compact/start": { params: ThreadIdParams, result: EmptyResponse },
  "thread/inject_items": { params: threads.ThreadInjectItemsParams, result: EmptyResponse },
  "thread/shellCommand": { params: threads.ThreadShellCommandParams, result: EmptyResponse },

  "turn/start": { params: turns.TurnStartParams, result: turns.TurnStartResponse },
  "turn/steer": { params: turns.TurnSteerParams, result: turns.TurnSteerResponse },
  "turn/interrupt": { params: turns.TurnInterruptParams, result: turns.TurnInterruptResponse },
  "review/start": { params: turns.ReviewStartParams, result: turns.ReviewStartResponse },

  "model/list": { params: catalogues.ModelListParams, result: catalogues.ModelListResponse },
  "modelProvider/capabilities/read": {
    params: NoParams,
    result: catalogues.ModelProviderCapabilitiesReadResponse,
  },
  "experimentalFeature/list": {
    params: catalogues.ExperimentalFeatureListParams,
    result: catalogues.ExperimentalFeatureListResponse,
  },
  "permissionProfile/list": {
    params: catalogues.PermissionProfileListParams,
    result: catalogues.PermissionProfileListResponse,
  },
  "skills/list": { params: catalogues.SkillsListParams, result: catalogues.SkillsListResponse },
  "skills/config/write": {
    params: catalogues.SkillsConfigWriteParams,
    result: catalogues.SkillsConfigWriteResponse,
  },
  "skills/extraRoots/set": { params: catalogues.SkillsExtraRootsSetParams, result: EmptyResponse },
  "hooks/list": { params: catalogues.HooksListParams, result: catalogues.HooksListResponse },

  "config/read": { params: configuration.ConfigReadParams, result: configuration.ConfigReadResponse },
  "config/value/write": {
    params: configuration.ConfigValueWriteParams,
    result: configuration.ConfigWriteResponse,
  },
  "config/batchWrite": {
    params: configuration.ConfigBatchWriteParams,
    result: configuration.ConfigWriteResponse,
  },
  "config/mcpServer/reload": { params: NoParams, result: EmptyResponse },
  "configRequirements/read": { params: NoParams, result: configuration.ConfigRequirementsReadResponse },

  "account/read": { params: accounts.GetAccountParams, result: accounts.GetAccountResponse },
  "account/login/start": { params: accounts.LoginAccountParams, result: accounts.LoginAccountResponse },
  "account/login/cancel": {
    params: accounts.CancelLoginAccountParams,
    result: accounts.CancelLoginAccountResponse,
  },
  "account/logout": { params: NoParams, result: EmptyResponse },
  "account/rateLimits/read": { params: NoParams, result: accounts.GetAccountRateLimitsResponse },
  "account/usage/read": {
    params: accounts.GetAccountTokenUsageParams,
    result: accounts.GetAccountTokenUsageResponse,
  },

  "command/exec": { params: commands.CommandExecParams, result: commands.CommandExecResponse },
  "command/exec/write": { params: commands.CommandExecWriteParams, result: EmptyResponse },
  "command/exec/resize": { params: commands.CommandExecResizeParams, result: EmptyResponse },
  "command/exec/terminate": { params: commands.CommandExecTerminateParams, result: EmptyResponse },

  "fs/readFile": { params: files.FsReadFileParams, result: files.FsReadFileResponse },
  "fs/writeFile": { params: files.FsWriteFileParams, result: EmptyResponse },
  "fs/createDirectory": { params: files.FsCreateDirectoryParams, result: EmptyResponse },
  "fs/getMetadata": { params: files.FsGetMetadataParams, result: files.FsGetMetadataResponse },
  "fs/readDirectory": { params: files.FsReadDirectoryParams, result: files.FsReadDirectoryResponse },
  "fs/remove": { params: files.FsRemoveParams, result: EmptyResponse },
  "fs/copy": { params: files.FsCopyParams, result: EmptyResponse },
  "fs/watch": { params: files.FsWatchParams, result: files.FsWatchResponse },
  "fs/unwatch": { params: files.FsUnwatchParams, result: EmptyResponse },
  fuzzyFileSearch: { params: files.FuzzyFileSearchParams, result: files.FuzzyFileSearchResponse },

  "mcpServerStatus/list": {
    params: catalogues.ListMcpServerStatusParams,
    result: catalogues.ListMcpServerStatusResponse,
  },
  "mcpServer/oauth/login": {
    params: catalogues.McpServerOauthLoginParams,
    result: catalogues.McpServerOauthLoginResponse,
  },
  "mcpServer/resource/read": {
    params: catalogues.McpResourceReadParams,
    result: catalogues.McpResourceReadResponse,
  },
  "mcpServer/tool/call": {
    params: catalogues.McpServerToolCallParams,
    result: catalogues.McpServerToolCallResponse,
  },
} satisfies Record<string, Call>;

/** Requests of the server to a client. */
export const serverRequests = {
  "item/commandExecution/requestApproval": {
    params: approvals.CommandExecutionRequestApprovalParams,
    result: approvals.CommandExecutionRequestApprovalResponse,
  },
  "item/fileChange/requestApproval": {
    params: approvals.FileChangeRequestApprovalParams,
    result: approvals.FileChangeRequestApprovalResponse,
  },
  "item/permissions/requestApproval": {
    params: approvals.PermissionsRequestApprovalParams,
    result: approvals.PermissionsRequestApprovalResponse,
  },
  "item/tool/requestUserInput": {
    params: approvals.ToolRequestUserInputParams,
    result: approvals.ToolRequestUserInputResponse,
  },
  "item/tool/call": { params: approvals.DynamicToolCallParams, result: approvals.DynamicToolCallResponse },
  "mcpServer/elicitation/request": {
    params: approvals.McpServerElicitationRequestParams,
    result: approvals.McpServerElicitationRequestResponse,
  },
} satisfies Record<string, Call>;

const { ItemDeltaNotification, ThreadIdNotification, TurnNotification, HookNotification } = notifications;

export const serverNotifications = {
  error: notifications.ErrorNotification,
  warning: notifications.WarningNotification,
  configWarning: notifications.ConfigWarningNotification,
  deprecationNotice: notifications.DeprecationNoticeNotification,
  "thread/started": notifications.ThreadStartedNotification,
  "thread/status/changed": notifications.ThreadStatusChangedNotification,
  "thread/closed": ThreadIdNotification,
  "thread/archived": ThreadIdNotification,
  "thread/unarchived": ThreadIdNotification,
  "thread/deleted": ThreadIdNotification,
  "thread/name/updated": notifications.ThreadNameUpdatedNotification,
  "thread/tokenUsage/updated": notifications.ThreadTokenUsageUpdatedNotification,
  "thread/compacted": notifications.ContextCompactedNotification,
  "turn/started": TurnNotification,
  "turn/completed": TurnNotification,
  "turn/diff/updated": notifications.TurnDiffUpdatedNotification,
  "turn/plan/updated": notifications.TurnPlanUpdatedNotification,
  "item/started": notifications.ItemStartedNotification,
  "item/completed": notifications.ItemCompletedNotification,
  "item/agentMessage/delta": ItemDeltaNotification,
  "item/plan/delta": ItemDeltaNotification,
  "item/reasoning/summaryTextDelta": notifications.ReasoningSummaryTextDeltaNotification,
  "item/reasoning/summaryPartAdded": notifications.ReasoningSummaryPartAddedNotification,
  "item/reasoning/textDelta": notifications.ReasoningTextDeltaNotification,
  "item/commandExecution/outputDelta": ItemDeltaNotification,
  "item/commandExecution/terminalInteraction": notifications.TerminalInteractionNotification,
  "item/fileChange/outputDelta": ItemDeltaNotification,
  "item/fileChange/patchUpdated": notifications.FileChangePatchUpdatedNotification,
  "item/mcpToolCall/progress": notifications.McpToolCallProgressNotification,
  "hook/started": HookNotification,
  "hook/completed": HookNotification,
  "serverRequest/resolved": notifications.ServerRequestResolvedNotification,
  "mcpServer/startupStatus/updated": notifications.McpServerStatusUpdatedNotification,
  "mcpServer/oauthLogin/completed": notifications.McpServerOauthLoginCompletedNotification,
  "skills/changed": notifications.SkillsChangedNotification,
  "account/updated": accounts.AccountUpdatedNotification,
  "account/login/completed": accounts.AccountLoginCompletedNotification,
  "account/rateLimits/updated": accounts.AccountRateLimitsUpdatedNotification,
  "command/exec/outputDelta": commands.CommandExecOutputDeltaNotification,
  "fs/changed": files.FsChangedNotification,
} satisfies Record<string, z.ZodType>;

type ClientRequests = typeof clientRequests;
type ServerRequests = typeof serverRequests;
type ServerNotifications = typeof serverNotifications;

export type MethodName = keyof ClientRequests;
export type ParamsOf<Name extends MethodName> = z.infer<ClientRequests[Name]["params"]>;
export type ResultOf<Name extends MethodName> = z.infer<ClientRequests[Name]["result"]>;

export type ServerRequestName = keyof ServerRequests;
export type QuestionOf<Name extends ServerRequestName> = z.infer<ServerRequests[Name]["params"]>;
export type AnswerOf<Name extends ServerRequestName> = z.infer<ServerRequests[Name]["result"]>;

export type NotificationName = keyof ServerNotifications;
export type NoticeOf<Name extends NotificationName> = z.infer<ServerNotifications[Name]>;
