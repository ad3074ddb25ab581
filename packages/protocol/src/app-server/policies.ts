// Sandbox and approval policies in the form of the app server.
import { z } from "zod";
import { maybe } from "./maybe.ts";

export const SandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

export const SandboxPolicy = z.discriminatedUnion("type", [
  z.object({ type: z.literal("dangerFullAccess") }),
  z.object({ type: z.literal("readOnly"), networkAccess: maybe(z.boolean()) }),
  z.object({ type: z.literal("externalSandbox"), networkAccess: maybe(z.enum(["restricted", "enabled"])) }),
  z.object({
    type: z.literal("workspaceWrite"),
    writableRoots: maybe(z.array(z.string())),
    networkAccess: maybe(z.boolean()),
    excludeTmpdirEnvVar: maybe(z.boolean()),
    excludeSlashTmp: maybe(z.boolean()),
  }),
]);
export type SandboxPolicy = z.infer<typeof SandboxPolicy>;

export const AskForApproval = z.union([
  z.enum(["untrusted", "on-request", "never"]),
  z.object({
    granular: z.object({
      sandbox_approval: z.boolean(),
      rules: z.boolean(),
      mcp_elicitations: z.boolean(),
      request_permissions: maybe(z.boolean()),
      skill_approval: maybe(z.boolean()),
    }),
  }),
]);
export type AskForApproval = z.infer<typeof AskForApproval>;

export const ApprovalsReviewer = z.enum(["user", "auto_review", "guardian_subagent"]);
export type ApprovalsReviewer = z.infer<typeof ApprovalsReviewer>;
