// Records: a thread is an append-only list of them, and everything that is shown is derived from them.
import { z } from "zod";
import { ErrorCode } from "./errors.ts";
import { HookDefinition, HookSource } from "./hooks.ts";
import { Noted } from "./notes.ts";
import { McpOrigin, Outcome, Part } from "./outcome.ts";
import { TurnSettings } from "./settings.ts";
import { Charges, chargeFields } from "./usage.ts";
import { WebSearchAction } from "./web-search.ts";

/** A message that is not from the model: the prompt, repository rules, the environment. */
export const ContextMessage = z.object({ role: z.enum(["developer", "user"]), parts: z.array(Part) });
export type ContextMessage = z.infer<typeof ContextMessage>;

/** What a message of the model is meant as, where the provider says so. */
export const MessagePhase = z.enum(["commentary", "final_answer"]);
export type MessagePhase = z.infer<typeof MessagePhase>;

/** One block of a model reply. Order matters: reasoning must be sent back before the call it led to. */
export const Block = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    text: z.string(),
    phase: MessagePhase.optional(),
    wireId: z.string().optional(),
  }),
  z.object({
    type: z.literal("reasoning"),
    summary: z.array(z.string()),
    text: z.string().optional(),
    encrypted: z.string().optional(),
    signature: z.string().optional().describe("Of the text, from the Anthropic wire: sent back unchanged"),
    redacted: z.string().optional().describe("Encrypted reasoning without a text, from the Anthropic wire"),
    wireId: z.string().optional(),
  }),
  z.object({
    type: z.literal("call"),
    wireId: z.string().describe("The id of the provider; may repeat within a thread"),
    itemId: z.string().optional(),
    name: z.string(),
    form: z.enum(["function", "freeform"]),
    input: z.string().describe("Arguments as the model wrote them, parsed only when admitted"),
  }),
  z.object({
    type: z.literal("web_search").describe("A search that the provider made itself"),
    wireId: z.string().optional(),
    action: WebSearchAction,
  }),
]);
export type Block = z.infer<typeof Block>;
export type CallBlock = Extract<Block, { type: "call" }>;
export type MessageBlock = Extract<Block, { type: "message" }>;

export const TurnEnd = z.discriminatedUnion("status", [
  z.object({ status: z.literal("completed"), message: z.string() }),
  z.object({
    status: z.literal("failed"),
    code: ErrorCode,
    message: z.string(),
    limit: z.string().optional(),
    retryAfterSeconds: z.number().optional(),
    hook: HookSource.optional().describe("Whose hook ended the turn, for code hook"),
  }),
  z.object({ status: z.literal("cancelled"), reason: z.string() }),
]);
export type TurnEnd = z.infer<typeof TurnEnd>;

export const ToolSpec = z.discriminatedUnion("form", [
  z.object({
    form: z.literal("function"),
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.json()),
  }),
  z.object({
    form: z.literal("freeform"),
    name: z.string(),
    description: z.string(),
    grammar: z.object({ syntax: z.literal("lark"), definition: z.string() }),
  }),
]);
export type ToolSpec = z.infer<typeof ToolSpec>;

/** The constant part of every request of the thread, stored so that a resumed thread sends the same bytes. */
export const Frozen = z.object({
  instructions: z.string(),
  tools: z.array(ToolSpec),
  context: z.array(ContextMessage),
  hooks: z.array(HookDefinition).optional(),
});
export type Frozen = z.infer<typeof Frozen>;

/** Labels of a run, for searching and for cost reports. */
export const Tags = z.record(z.string(), z.string());
export type Tags = z.infer<typeof Tags>;

/** A git working tree created for one thread. */
export const WorktreeOrigin = z.object({
  path: z.string().describe("Top of the working tree"),
  startedIn: z.string().describe("The directory the run was started in"),
  branch: z.string(),
  base: z.string().describe("The commit it began with"),
});
export type WorktreeOrigin = z.infer<typeof WorktreeOrigin>;

export const ThreadRecord = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("thread.created"),
    threadId: z.string(),
    parentId: z.string().optional(),
    role: z.string().optional().describe("Role of a sub-agent"),
    nickname: z.string().optional().describe("Display name of a sub-agent"),
    forkedFrom: z.string().optional().describe("The thread whose records this one began with"),
    worktree: WorktreeOrigin.optional(),
    tags: Tags.optional(),
    frozen: Frozen,
    settings: TurnSettings,
    program: z.object({ name: z.string(), version: z.string() }),
  }),
  z.object({
    type: z.literal("turn.begun"),
    turnId: z.string(),
    context: z.array(ContextMessage).optional().describe("Changes of the environment since the last turn"),
    tools: z
      .array(ToolSpec)
      .optional()
      .describe("The tools from this turn on, where MCP servers offer others than before"),
    input: z.array(Part),
    clientId: z.string().optional().describe("The id that the client gave the prompt"),
    compaction: z.literal("only").optional().describe("The turn only compacts the history"),
    settings: TurnSettings,
    tags: Tags.optional().describe("All tags from this turn on"),
    paidBy: z
      .string()
      .optional()
      .describe("Of a sub-agent: the turn of the main thread whose budget pays for this one"),
    review: z
      .object({ coverage: z.string().nullable().describe("Which part of the change was not covered, as a sentence") })
      .optional()
      .describe("The final message of the model is findings, rendered for people"),
  }),
  z.object({
    type: z.literal("input.added"),
    origin: z.enum(["user", "hook", "schema", "agent", "budget", "repository"]),
    input: z.array(Part),
    clientId: z.string().optional().describe("The id that the client gave it"),
    sources: z
      .array(z.string())
      .optional()
      .describe("Files or sub-agents the input came from, so that none is sent twice"),
  }),
  z.object({ type: z.literal("model.replied"), blocks: z.array(Block), ...chargeFields }),
  z.object({
    type: z.literal("tool.begun"),
    callId: z.string().describe("Unique in the thread: <seq of the reply>.<index of the call>"),
    name: z.string(),
    args: z.json().describe("As admitted: a guard may have rewritten them"),
    incarnation: z.string().describe("The workspace incarnation the effect happens in"),
    onResume: z.enum(["rerun", "once"]),
    makes: z
      .string()
      .optional()
      .describe("Id of the thread or turn that the call creates; repeated after a crash, it finds the existing one"),
    mcp: McpOrigin.optional(),
  }),
  z.object({ type: z.literal("tool.settled"), callId: z.string(), outcome: Outcome }),
  z.object({
    type: z.literal("context.compacted"),
    upTo: z.int().describe("Records up to this one are replaced by the summary in model requests"),
    summary: z.string(),
    restated: z.string().optional().describe("The state of the work, which follows the summary in model requests"),
    ...chargeFields,
  }),
  Noted,
  z.object({
    type: z.literal("turn.ended"),
    turnId: z.string(),
    end: TurnEnd,
    agents: Charges.optional().describe("What sub-agents used and cost for this turn"),
  }),
]);
export type ThreadRecord = z.infer<typeof ThreadRecord>;
export type RecordOf<T extends ThreadRecord["type"]> = Extract<ThreadRecord, { type: T }>;

/** One line of a session file. */
export const SessionLine = z.object({
  v: z.literal(1),
  seq: z.int().positive(),
  at: z.iso.datetime(),
  record: ThreadRecord,
});
export type SessionLine = z.infer<typeof SessionLine>;
