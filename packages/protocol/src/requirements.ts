// Keys of requirements.toml: limits set by an administrator, which override configuration and flags.
import { z } from "zod";
import { Features } from "./config.ts";
import { ApprovalPolicy, SandboxMode } from "./settings.ts";

export const RequiredServer = z.object({
  identity: z
    .object({
      command: z.string().optional().describe("The command it must have"),
      url: z.string().optional().describe("The address it must have"),
    })
    .optional()
    .describe("Identifies the server"),
});
export type RequiredServer = z.infer<typeof RequiredServer>;

export const Requirements = z.object({
  allowed_sandbox_modes: z.array(SandboxMode).min(1).optional().describe("The only sandbox modes a run may have"),
  allowed_approval_policies: z
    .array(ApprovalPolicy)
    .min(1)
    .optional()
    .describe("The only approval policies a run may have"),
  features: Features.optional().describe("Features that must be on or off"),
  hooks: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Hooks every run has, as in hooks.json; they need no trust"),
  mcp_servers: z
    .record(z.string(), RequiredServer)
    .optional()
    .describe("The only MCP servers a run may use, by name and identity"),
  allow_managed_hooks_only: z.boolean().optional().describe("No hooks but those of requirements and system files"),
});
export type Requirements = z.infer<typeof Requirements>;
