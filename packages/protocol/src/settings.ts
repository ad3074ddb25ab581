// Settings of a turn: model, sandbox, approvals, budget.
import { z } from "zod";

export const SandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

export const ApprovalPolicy = z.enum(["never", "on-request"]);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** Limits of a turn, its sub-agents included. */
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
  onLimit: z.enum(["wait", "stop"]).optional().describe("Whether to wait when a provider says when to retry"),
  compactAt: z.int().optional().describe("The history is summarised when the next request would be this many tokens"),
});
export type TurnSettings = z.infer<typeof TurnSettings>;

/** What is enforced in this run, which may differ from what was configured. */
export const SandboxReport = z.object({
  mode: SandboxMode,
  backend: z.enum(["bubblewrap", "landlock", "seatbelt", "none"]),
  fs: z.enum(["read-only", "workspace-write", "none"]),
  net: z.enum(["off", "proxy", "on"]),
  pid: z.boolean(),
  syscalls: z.boolean(),
  admits: z.array(z.string()).optional().describe("What the backend cannot prevent, as sentences"),
});
export type SandboxReport = z.infer<typeof SandboxReport>;
