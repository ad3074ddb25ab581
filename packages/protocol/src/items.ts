// Items of the exec event stream: what the agent did, for programs.
import { z } from "zod";
import { HookSource } from "./hooks.ts";
import { AgentState } from "./outcome.ts";
import { MessagePhase } from "./records.ts";
import { WebSearchAction } from "./web-search.ts";

const StatusOrDeclined = z.enum(["in_progress", "completed", "failed", "declined"]);
const id = z.string().regex(/^item_\d+$/);

export const ThreadItem = z.discriminatedUnion("type", [
  z.object({
    id,
    type: z.literal("agent_message"),
    text: z.string(),
    phase: MessagePhase.optional().describe("Where the provider says what the message is meant as"),
  }),
  z.object({ id, type: z.literal("reasoning"), text: z.string() }),
  z.object({
    id,
    type: z.literal("command_execution"),
    command: z.string(),
    aggregated_output: z.string(),
    exit_code: z.int().nullable(),
    status: StatusOrDeclined,
    reason: z.string().optional(),
  }),
  z.object({
    id,
    type: z.literal("file_change"),
    changes: z.array(z.object({ path: z.string(), kind: z.enum(["add", "delete", "update"]) })),
    status: StatusOrDeclined,
    reason: z.string().optional(),
  }),
  z.object({
    id,
    type: z.literal("todo_list"),
    items: z.array(z.object({ text: z.string(), completed: z.boolean() })),
  }),
  z.object({
    id,
    type: z.literal("mcp_tool_call"),
    server: z.string(),
    tool: z.string(),
    arguments: z.json(),
    result: z
      .object({ content: z.array(z.json()), _meta: z.json().optional(), structured_content: z.json() })
      .nullable(),
    error: z.object({ message: z.string() }).nullable(),
    status: StatusOrDeclined,
    reason: z.string().optional(),
  }),
  z.object({
    id,
    type: z.literal("mcp_server"),
    name: z.string(),
    status: z.enum(["ready", "late", "failed"]),
    reason: z.string().nullable(),
  }),
  z.object({
    id,
    type: z.literal("collab_tool_call"),
    tool: z.enum(["spawn_agent", "send_input", "wait", "close_agent", "resume_agent"]),
    sender_thread_id: z.string(),
    receiver_thread_ids: z.array(z.string()),
    prompt: z.string().nullable(),
    agents_states: z.record(z.string(), AgentState),
    status: StatusOrDeclined,
    reason: z.string().optional(),
  }),
  z.object({
    id,
    type: z.literal("hook"),
    event: z.string(),
    source: HookSource,
    key: z.string().describe("Identifies the hook: file, event and position"),
    status: z.enum(["completed", "blocked", "failed", "skipped"]),
    reason: z.string(),
    duration_ms: z.number(),
    agent_id: z.string().optional().describe("The sub-agent it ran in"),
  }),
  z.object({ id, type: z.literal("web_search"), query: z.string(), action: WebSearchAction }),
  z.object({ id, type: z.literal("error"), message: z.string() }),
]);
export type ThreadItem = z.infer<typeof ThreadItem>;
export type ItemOf<T extends ThreadItem["type"]> = Extract<ThreadItem, { type: T }>;
