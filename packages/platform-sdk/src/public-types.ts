// Types by the names that programs know them by, where this package has another name or none.
import type { InteractionUpdate, Repository, ToolCall } from "@agentcli/protocol/api";
import type { AgentUsage } from "./agent-files.ts";
import type { ConversationTurn } from "./conversation.ts";
import type { CustomTool, CustomToolContent } from "./local-options.ts";
import type { AgentOptions, ModelSelection, SDKImage, SendOptions } from "./options.ts";

type Present<Type> = NonNullable<Type>;

export type AgentModeOption = Present<AgentOptions["mode"]>;
export type CloudSendOptions = Present<SendOptions["cloud"]>;
export type ModelParameterValue = Present<ModelSelection["params"]>[number];
export type SDKImageDimension = Present<SDKImage["dimension"]>;
export type SDKRepository = Pick<Repository, "url">;
export type SDKToolAnnotations = Present<CustomTool["annotations"]>;
export type SDKCustomToolContent = CustomToolContent["content"][number];
export type UsageCost = Present<AgentUsage["cost"]>;
export type AgentConversationTurn = ConversationTurn["turn"];
/** One of the names that messages show, `mcp`, or a tool of a server. */
export type ToolName = string;

export type { ToolCall };
export type ToolType = ToolCall["type"];
type Call<Type extends ToolType> = Extract<ToolCall, { type: Type }>;
export type ShellToolCall = Call<"shell">;
export type WriteToolCall = Call<"write">;
export type DeleteToolCall = Call<"delete">;
export type EditToolCall = Call<"edit">;
export type ReadToolCall = Call<"read">;
export type LsToolCall = Call<"ls">;
export type GrepToolCall = Call<"grep">;
export type McpToolCall = Call<"mcp">;
export type UpdateTodosToolCall = Call<"updateTodos">;
export type TaskToolCall = Call<"task">;

type Update<Type extends InteractionUpdate["type"]> = Extract<InteractionUpdate, { type: Type }>;
export type TextDeltaUpdate = Update<"text-delta">;
export type ThinkingDeltaUpdate = Update<"thinking-delta">;
export type ThinkingCompletedUpdate = Update<"thinking-completed">;
export type ToolCallStartedUpdate = Update<"tool-call-started">;
export type ToolCallCompletedUpdate = Update<"tool-call-completed">;
export type SummaryUpdate = Update<"summary">;
export type SummaryStartedUpdate = Update<"summary-started">;
export type SummaryCompletedUpdate = Update<"summary-completed">;
export type ShellOutputDeltaUpdate = Update<"shell-output-delta">;
export type TurnEndedUpdate = Update<"turn-ended">;
export type UserMessageAppendedUpdate = Update<"user-message-appended">;
