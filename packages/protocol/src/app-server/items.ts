// Items of a turn, and user input.
import { z } from "zod";
import { JsonValue, maybe, whole } from "./maybe.ts";

const ImageDetail = z.enum(["auto", "low", "high", "original"]);

export const TextElement = z.object({
  byteRange: z.object({ start: whole, end: whole }),
  placeholder: maybe(z.string()),
});

export const UserInput = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), text_elements: maybe(z.array(TextElement)) }),
  z.object({ type: z.literal("image"), url: z.string(), detail: maybe(ImageDetail) }),
  z.object({ type: z.literal("localImage"), path: z.string(), detail: maybe(ImageDetail) }),
  z.object({ type: z.literal("audio"), url: z.string() }),
  z.object({ type: z.literal("localAudio"), path: z.string() }),
  z.object({ type: z.literal("skill"), name: z.string(), path: z.string() }),
  z.object({ type: z.literal("mention"), name: z.string(), path: z.string() }),
]);
export type UserInput = z.infer<typeof UserInput>;

export const CommandAction = z.discriminatedUnion("type", [
  z.object({ type: z.literal("read"), command: z.string(), name: z.string(), path: z.string() }),
  z.object({ type: z.literal("listFiles"), command: z.string(), path: maybe(z.string()) }),
  z.object({
    type: z.literal("search"),
    command: z.string(),
    query: maybe(z.string()),
    path: maybe(z.string()),
  }),
  z.object({ type: z.literal("unknown"), command: z.string() }),
]);
export type CommandAction = z.infer<typeof CommandAction>;

export const FileUpdateChange = z.object({
  path: z.string(),
  kind: z.discriminatedUnion("type", [
    z.object({ type: z.literal("add") }),
    z.object({ type: z.literal("delete") }),
    z.object({ type: z.literal("update"), move_path: maybe(z.string()) }),
  ]),
  diff: z.string(),
});
export type FileUpdateChange = z.infer<typeof FileUpdateChange>;

export const DynamicToolContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("inputText"), text: z.string() }),
  z.object({ type: z.literal("inputImage"), imageUrl: z.string() }),
]);

export const CollabAgentState = z.object({
  status: z.enum(["pendingInit", "running", "interrupted", "completed", "errored", "shutdown", "notFound"]),
  message: maybe(z.string()),
});
export type CollabAgentState = z.infer<typeof CollabAgentState>;

const WebSearchAction = z.discriminatedUnion("type", [
  z.object({ type: z.literal("search"), query: maybe(z.string()), queries: maybe(z.array(z.string())) }),
  z.object({ type: z.literal("openPage"), url: maybe(z.string()) }),
  z.object({ type: z.literal("findInPage"), url: maybe(z.string()), pattern: maybe(z.string()) }),
  z.object({ type: z.literal("other") }),
]);

const id = z.string();
const CallStatus = z.enum(["inProgress", "completed", "failed"]);
const ActionStatus = z.enum(["inProgress", "completed", "failed", "declined"]);

export const ThreadItem = z.discriminatedUnion("type", [
  z.object({ id, type: z.literal("userMessage"), content: z.array(UserInput), clientId: maybe(z.string()) }),
  z.object({
    id,
    type: z.literal("hookPrompt"),
    fragments: z.array(z.object({ hookRunId: z.string(), text: z.string() })),
  }),
  z.object({
    id,
    type: z.literal("agentMessage"),
    text: z.string(),
    phase: maybe(z.enum(["commentary", "final_answer"])),
    memoryCitation: maybe(JsonValue),
    delivery: maybe(z.literal("async")),
  }),
  z.object({ id, type: z.literal("plan"), text: z.string() }),
  z.object({ id, type: z.literal("reasoning"), summary: z.array(z.string()), content: z.array(z.string()) }),
  z.object({
    id,
    type: z.literal("commandExecution"),
    command: z.string(),
    cwd: z.string(),
    processId: maybe(z.string()),
    source: z.enum(["agent", "userShell", "unifiedExecStartup", "unifiedExecInteraction"]),
    status: ActionStatus,
    commandActions: z.array(CommandAction),
    aggregatedOutput: maybe(z.string()),
    exitCode: maybe(whole),
    durationMs: maybe(whole),
  }),
  z.object({ id, type: z.literal("fileChange"), changes: z.array(FileUpdateChange), status: ActionStatus }),
  z.object({
    id,
    type: z.literal("mcpToolCall"),
    server: z.string(),
    tool: z.string(),
    status: CallStatus,
    arguments: JsonValue,
    result: maybe(
      z.object({ content: z.array(JsonValue), structuredContent: maybe(JsonValue), _meta: maybe(JsonValue) }),
    ),
    error: maybe(z.object({ message: z.string() })),
    durationMs: maybe(whole),
  }),
  z.object({
    id,
    type: z.literal("dynamicToolCall"),
    namespace: maybe(z.string()),
    tool: z.string(),
    status: CallStatus,
    arguments: JsonValue,
    contentItems: maybe(z.array(DynamicToolContent)),
    success: maybe(z.boolean()),
    durationMs: maybe(whole),
  }),
  z.object({
    id,
    type: z.literal("collabAgentToolCall"),
    tool: z.enum(["spawnAgent", "sendInput", "resumeAgent", "wait", "closeAgent"]),
    status: CallStatus,
    senderThreadId: z.string(),
    receiverThreadIds: z.array(z.string()),
    prompt: maybe(z.string()),
    model: maybe(z.string()),
    reasoningEffort: maybe(z.string()),
    agentsStates: z.record(z.string(), CollabAgentState),
  }),
  z.object({
    id,
    type: z.literal("subAgentActivity"),
    agentThreadId: z.string(),
    agentPath: z.string(),
    kind: z.enum(["started", "interacted", "interrupted"]),
  }),
  z.object({
    id,
    type: z.literal("webSearch"),
    query: z.string(),
    action: maybe(WebSearchAction),
    results: maybe(z.array(JsonValue)),
  }),
  z.object({ id, type: z.literal("imageView"), path: z.string() }),
  z.object({
    id,
    type: z.literal("imageGeneration"),
    status: z.string(),
    revisedPrompt: maybe(z.string()),
    result: z.string(),
    savedPath: maybe(z.string()),
  }),
  z.object({ id, type: z.literal("sleep"), durationMs: whole }),
  z.object({ id, type: z.literal("enteredReviewMode"), review: z.string() }),
  z.object({ id, type: z.literal("exitedReviewMode"), review: z.string() }),
  z.object({ id, type: z.literal("contextCompaction") }),
]);
export type ThreadItem = z.infer<typeof ThreadItem>;
export type ThreadItemOf<Type extends ThreadItem["type"]> = Extract<ThreadItem, { type: Type }>;
