// The script of a model server: its replies, as data that any program can write.
import { z } from "zod";

const When = z.strictObject({
  bodyIncludes: z.string().optional().describe("Only for a request whose body, as sent, has this text in it"),
});

export const ScriptedUsage = z.strictObject({
  inputTokens: z.int().optional(),
  cachedInputTokens: z.int().optional(),
  cacheWriteInputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
  reasoningOutputTokens: z.int().optional(),
});
export type ScriptedUsage = z.infer<typeof ScriptedUsage>;

export const ScriptedCall = z.strictObject({
  name: z.string(),
  arguments: z.union([z.string(), z.record(z.string(), z.json())]).describe("Text is sent as it is"),
  callId: z.string().optional(),
  freeform: z.boolean().optional().describe("A custom tool call: the arguments are its input"),
});
export type ScriptedCall = z.infer<typeof ScriptedCall>;

export const ScriptedMessage = z.strictObject({ text: z.string(), phase: z.enum(["commentary", "final_answer"]) });

export const PlainReply = z.strictObject({
  when: When.optional(),
  reasoning: z.strictObject({ summary: z.array(z.string()), encrypted: z.string().optional() }).optional(),
  messages: z.array(z.union([z.string(), ScriptedMessage])).optional(),
  text: z.strictObject({ bytes: z.int().positive(), deltas: z.int().positive().optional() }).optional(),
  calls: z.array(ScriptedCall).optional(),
  searches: z
    .array(z.record(z.string(), z.json()))
    .optional()
    .describe("Actions of searches that the provider makes itself, before the messages"),
  usage: ScriptedUsage.nullable().optional().describe("null: the answer has no usage at all"),
  deltas: z.int().positive().optional().describe("Texts and arguments are sent in this many pieces"),
  deltaDelayMs: z.int().nonnegative().optional().describe("Wait after each event"),
  chunkBytes: z.int().positive().optional().describe("Bytes of each write, wherever that cuts a character"),
  model: z.string().optional(),
});
export type PlainReply = z.infer<typeof PlainReply>;

export const HttpFault = z.strictObject({
  when: When.optional(),
  status: z.int().min(300).max(599),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.json().optional().describe("Text is sent as it is"),
});
export const CutFault = PlainReply.extend({
  cutAfter: z.union([z.int().nonnegative(), z.literal("half")]).describe("Events, or half of all bytes"),
});
export const StallFault = PlainReply.extend({
  stall: z.union([z.literal("before-headers"), z.literal("after-headers"), z.int().nonnegative()]),
  ms: z.int().positive().optional().describe("The answer goes on after this long; absent: never"),
});
export const GarbageFault = z.strictObject({
  when: When.optional(),
  garbage: z.string().describe("The whole body of the answer"),
  contentType: z.string().optional(),
});
export const FailedFault = PlainReply.extend({ failed: z.strictObject({ code: z.string(), message: z.string() }) });
export const IncompleteFault = PlainReply.extend({ incomplete: z.string().describe("Why the answer stops early") });

export const PausedReply = PlainReply.extend({
  paused: z.literal(true).describe("The server wants to be asked to go on"),
});

const replyKinds = {
  status: HttpFault,
  cutAfter: CutFault,
  stall: StallFault,
  garbage: GarbageFault,
  failed: FailedFault,
  incomplete: IncompleteFault,
  paused: PausedReply,
} as const;

export const Reply = z.union([PlainReply, ...Object.values(replyKinds)]);
export type Reply = z.infer<typeof Reply>;

export interface Script {
  replies: Reply[];
  /** What follows the last reply; an HTTP 500 unless given. `always`: replies are never used up. */
  repeat?: "last" | "loop" | "always";
}

const Outline = z.strictObject({
  replies: z.array(z.unknown()),
  repeat: z.enum(["last", "loop", "always"]).optional(),
});

/** Accepts a script or a bare list of replies; throws one line per mistake, each with its path. */
export function parseScript(value: unknown): Script {
  const outline = Outline.safeParse(Array.isArray(value) ? { replies: value } : value);
  if (!outline.success) throw new Error(explain(outline.error.issues, []));
  const mistakes: string[] = [];
  const replies = outline.data.replies.flatMap((reply, index) => {
    const parsed = schemaFor(reply).safeParse(reply);
    if (parsed.success) return [parsed.data as Reply];
    mistakes.push(explain(parsed.error.issues, ["replies", index]));
    return [];
  });
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return { ...outline.data, replies };
}

// A union would report "no member matched"; a key of its own selects the member, so that the message names the field.
function schemaFor(reply: unknown): z.ZodType {
  if (typeof reply !== "object" || reply === null) return PlainReply;
  const kind = Object.entries(replyKinds).find(([key]) => key in reply);
  return kind ? kind[1] : PlainReply;
}

function explain(issues: z.core.$ZodIssue[], where: PropertyKey[]): string {
  return issues.map((issue) => `script ${[...where, ...issue.path].join(".") || "file"}: ${issue.message}`).join("\n");
}
