// Notes in the log: facts about a run that are not part of the conversation.
import { z } from "zod";
import { HookSource } from "./hooks.ts";
import { McpOrigin } from "./outcome.ts";
import { Budget, SandboxReport, TurnSettings } from "./settings.ts";
import { chargeFields } from "./usage.ts";

const note = <Kind extends string, Data extends z.ZodType>(kind: Kind, data: Data) =>
  z.object({ type: z.literal("noted"), kind: z.literal(kind), data });

const HookRunNote = z.object({
  event: z.string(),
  source: HookSource,
  key: z.string(),
  status: z.enum(["completed", "blocked", "failed", "skipped"]),
  reason: z.string(),
  durationMs: z.number(),
  agentId: z.string().optional().describe("The sub-agent it ran in"),
  context: z.string().optional().describe("Sent to the model with its next request"),
  halt: z.string().optional().describe("Set when it ended the turn: the message of the end"),
});

const ToolApprovalRequest = z.object({
  asked: z.literal(true),
  callId: z.string(),
  name: z.string(),
  args: z.json(),
  mcp: McpOrigin.optional(),
  reason: z.string(),
});

const ApprovalDecision = z.object({
  callId: z.string(),
  decision: z.enum(["accept", "acceptForSession", "decline", "cancel"]),
  by: z.string().describe("user, hook or session"),
  args: z.json().describe("The arguments it was decided for"),
  outside: z.literal(true).optional().describe("The call may run outside the sandbox"),
  reason: z.string().optional().describe("Of the user, for the model"),
  refusedHunks: z.array(z.int()).optional().describe("Of a patch: counted from 0 over all its files, not applied"),
});

const ElicitationRequest = z.object({
  asked: z.literal(true),
  callId: z.string(),
  server: z.string(),
  message: z.string(),
});

const ElicitationAnswer = z.object({ callId: z.string(), action: z.string() });

/** Validation accepts additional members that another version wrote. */
export const Noted = z.discriminatedUnion("kind", [
  note("sandbox", SandboxReport),
  note(
    "hook",
    z.union([
      HookRunNote.extend(chargeFields),
      HookRunNote,
      z.object({ prompted: z.literal(true) }).describe("Hooks have run for the prompt"),
      z.object({ continues: z.literal(true) }).describe("A hook kept the turn from ending"),
    ]),
  ),
  note(
    "mcp",
    z.object({ name: z.string(), status: z.enum(["ready", "late", "failed"]), reason: z.string().nullable() }),
  ),
  note("retry", z.object({ attempt: z.int(), of: z.int(), delayMs: z.number(), reason: z.string() })),
  note("approval", z.union([ToolApprovalRequest, ApprovalDecision, ElicitationRequest, ElicitationAnswer])),
  note("budget", z.object({ spent: Budget.keyof() })),
  note(
    "policy",
    z.union([
      z.object({ settings: TurnSettings }).describe("The settings from here on"),
      z
        .object({ message: z.string(), host: z.string(), port: z.int(), by: z.string() })
        .describe("A connection that the proxy blocked"),
    ]),
  ),
  note("warning", z.object({ message: z.string(), about: z.enum(["repository", "model"]).optional() })),
]);
export type Noted = z.infer<typeof Noted>;
export type NoteKind = Noted["kind"];
export type NoteOf<Kind extends NoteKind> = Extract<Noted, { kind: Kind }>;
export type NoteData<Kind extends NoteKind> = NoteOf<Kind>["data"];
