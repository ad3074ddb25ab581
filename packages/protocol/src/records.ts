// The durable record: a thread *is* the list of these, append-only. Everything shown anywhere is made from them.
import { z } from "zod";
import { ErrorCode } from "./errors.ts";
import { HookDefinition, HookSource } from "./hooks.ts";

export const Usage = z.object({
  inputTokens: z.int().nonnegative(),
  cachedInputTokens: z.int().nonnegative(),
  cacheWriteInputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  reasoningOutputTokens: z.int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

export const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({
    type: z.literal("image"),
    url: z.string().describe("A data: or https: URL"),
    detail: z.enum(["auto", "low", "high", "original"]).optional(),
    name: z.string().optional().describe("Where the image came from, told to the model"),
  }),
]);
export type Part = z.infer<typeof Part>;

/** A message that is not the model's own: the prompt, repository rules, the environment. */
export const ContextMessage = z.object({ role: z.enum(["developer", "user"]), parts: z.array(Part) });
export type ContextMessage = z.infer<typeof ContextMessage>;

/** One ordered piece of a model reply. Order matters: reasoning must be sent back in front of the call it led to. */
export const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), text: z.string(), wireId: z.string().optional() }),
  z.object({
    type: z.literal("reasoning"),
    summary: z.array(z.string()),
    text: z.string().optional(),
    encrypted: z.string().optional(),
    wireId: z.string().optional(),
  }),
  z.object({
    type: z.literal("call"),
    wireId: z.string().describe("The id the provider gave; may repeat within a thread"),
    itemId: z.string().optional(),
    name: z.string(),
    form: z.enum(["function", "freeform"]),
    input: z.string().describe("Arguments as the model wrote them, parsed only when admitted"),
  }),
]);
export type Block = z.infer<typeof Block>;
export type CallBlock = Extract<Block, { type: "call" }>;

export const FileChange = z.object({
  path: z.string(),
  kind: z.enum(["add", "delete", "update"]),
  movedTo: z.string().optional(),
});
export type FileChange = z.infer<typeof FileChange>;

export const PlanStep = z.object({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) });
export type PlanStep = z.infer<typeof PlanStep>;

/** Which tool of which MCP server a call goes to; the name the model uses cannot be taken apart again. */
export const McpOrigin = z.object({ server: z.string(), tool: z.string() });
export type McpOrigin = z.infer<typeof McpOrigin>;

export const McpResult = z.object({
  content: z.array(z.json()).describe("Whole up to 8 MiB, then head and tail"),
  structuredContent: z.json(),
  meta: z.json().optional(),
});
export type McpResult = z.infer<typeof McpResult>;

/** How a sub-agent stands. */
export const AgentState = z.object({
  status: z.enum(["pending_init", "running", "interrupted", "completed", "errored", "shutdown", "not_found"]),
  message: z.string().nullable(),
});
export type AgentState = z.infer<typeof AgentState>;

/** What a tool did, for people and programs; the model reads `parts` of the outcome instead. */
export const Detail = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("command"),
    output: z.string().describe("Whole up to 8 MiB, then head and tail"),
    exitCode: z.int().nullable(),
    sessionId: z.int().optional().describe("Set while the process goes on after the call"),
    cursor: z.int().describe("Last output chunk that was read"),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal("input"),
    sessionId: z.int(),
    output: z.string().describe("What the process printed since it was last asked"),
    exitCode: z.int().nullable(),
    running: z.boolean(),
    cursor: z.int(),
    durationMs: z.number(),
  }),
  z.object({ kind: z.literal("patch"), changes: z.array(FileChange) }),
  z.object({ kind: z.literal("plan"), steps: z.array(PlanStep) }),
  McpOrigin.extend({
    kind: z.literal("mcp"),
    arguments: z.json(),
    result: McpResult.nullable(),
    error: z.string().nullable().describe("Why there is no result"),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal("agents"),
    prompt: z.string().nullable(),
    agents: z.record(z.string(), AgentState),
  }),
  z.object({ kind: z.literal("none") }),
]);
export type Detail = z.infer<typeof Detail>;

export const Outcome = z.object({
  status: z.enum(["completed", "failed", "declined", "interrupted"]),
  parts: z.array(Part).describe("What the model is told"),
  reason: z.string().optional().describe("Why it was declined, interrupted or not understood"),
  detail: Detail,
});
export type Outcome = z.infer<typeof Outcome>;

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

/** What shapes every request of the thread, kept as text so that a resumed thread asks with the same bytes. */
export const Frozen = z.object({
  instructions: z.string(),
  tools: z.array(ToolSpec),
  context: z.array(ContextMessage),
  hooks: z.array(HookDefinition).optional(),
});
export type Frozen = z.infer<typeof Frozen>;

export const SandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

export const ApprovalPolicy = z.enum(["never", "on-request"]);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** What a turn may spend, its sub-agents included. */
export const Budget = z.object({
  usd: z.number().positive().optional(),
  tokens: z.int().positive().optional(),
  turns: z.int().positive().optional().describe("Model requests"),
  tools: z.int().nonnegative().optional().describe("Tool calls"),
  wallMs: z.int().positive().optional(),
});
export type Budget = z.infer<typeof Budget>;

export const TurnSettings = z.object({
  model: z.string(),
  provider: z.string(),
  effort: z.string().optional(),
  cwd: z.string(),
  shell: z.string(),
  sandbox: SandboxMode,
  approval: ApprovalPolicy,
  budget: Budget.optional(),
  onLimit: z
    .enum(["wait", "stop"])
    .optional()
    .describe("Whether to wait for a provider that names a time to come back"),
  compactAt: z.int().optional().describe("The history is summarised when the next request would be this many tokens"),
});
export type TurnSettings = z.infer<typeof TurnSettings>;

/** Labels a person gives a run, to find it and to sum it up by. */
export const Tags = z.record(z.string(), z.string());
export type Tags = z.infer<typeof Tags>;

/** A git working tree made for one thread. */
export const WorktreeOrigin = z.object({
  path: z.string().describe("Top of the working tree"),
  startedIn: z.string().describe("The directory the run was started in"),
  branch: z.string(),
  base: z.string().describe("The commit it began with"),
});
export type WorktreeOrigin = z.infer<typeof WorktreeOrigin>;

export const NoteKind = z.enum(["sandbox", "hook", "mcp", "retry", "approval", "budget", "policy", "warning"]);
export type NoteKind = z.infer<typeof NoteKind>;

/** What a model request cost; the price is written down because price books change. */
const charge = {
  usage: Usage,
  model: z.string(),
  costUsd: z.number().nullable().optional().describe("Null where the price is not known"),
};

export const ThreadRecord = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("thread.created"),
    threadId: z.string(),
    parentId: z.string().optional(),
    role: z.string().optional().describe("What kind of sub-agent it is"),
    nickname: z.string().optional().describe("What a sub-agent is called beside its id"),
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
    context: z.array(ContextMessage).optional().describe("What has changed around the thread since its last turn"),
    tools: z.array(ToolSpec).optional().describe("The tools from now on, where MCP servers offer others than before"),
    input: z.array(Part),
    clientId: z.string().optional().describe("The name a client has for the prompt"),
    compaction: z.literal("only").optional().describe("Nothing is asked: the turn shortens the history and ends"),
    settings: TurnSettings,
    tags: Tags.optional().describe("All that hold from this turn on"),
    paidBy: z
      .string()
      .optional()
      .describe("Of a sub-agent: the turn of the main thread whose budget pays for this one"),
    review: z
      .object({ coverage: z.string().nullable().describe("What of the change was left out, as a sentence") })
      .optional()
      .describe("The final message of the model is findings; people read them rendered"),
  }),
  z.object({
    type: z.literal("input.added"),
    origin: z.enum(["user", "hook", "schema", "agent", "budget", "repository"]),
    input: z.array(Part),
    clientId: z.string().optional().describe("The name a client has for it"),
    sources: z
      .array(z.string())
      .optional()
      .describe("Files or sub-agents the input came from, so that none is given twice"),
  }),
  z.object({ type: z.literal("model.replied"), blocks: z.array(Block), ...charge }),
  z.object({
    type: z.literal("tool.begun"),
    callId: z.string().describe("Ours and unique in the thread: <seq of the reply>.<index of the call>"),
    name: z.string(),
    args: z.json().describe("As admitted: a guard may have rewritten them"),
    incarnation: z.string().describe("The workspace incarnation the effect happens in"),
    onResume: z.enum(["rerun", "once"]),
    makes: z
      .string()
      .optional()
      .describe("Id of the thread or turn the call makes; made again after a crash, it finds what it made"),
    mcp: McpOrigin.optional(),
  }),
  z.object({ type: z.literal("tool.settled"), callId: z.string(), outcome: Outcome }),
  z.object({
    type: z.literal("context.compacted"),
    upTo: z.int().describe("Records up to this one are replaced by the summary in model requests"),
    summary: z.string(),
    ...charge,
  }),
  z.object({ type: z.literal("noted"), kind: NoteKind, data: z.record(z.string(), z.json()) }),
  z.object({ type: z.literal("turn.ended"), turnId: z.string(), end: TurnEnd }),
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
