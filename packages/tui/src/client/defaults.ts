// What interactive programs ask of a thread, unless the user or the configuration says otherwise.
import type { ParamsOf } from "@agentcli/protocol/app-server";
import type { Client } from "./client.ts";

export interface ThreadOverrides {
  model?: string | undefined;
  cwd?: string | undefined;
  sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  approvalPolicy?: "on-request" | "never" | undefined;
}

/** A user is there to answer: unless configured otherwise, the agent may write in the project and asks for more. */
export async function interactiveDefaults(
  client: Client,
  overrides: ThreadOverrides,
): Promise<ParamsOf<"thread/start">> {
  const { origins } = await client.request("config/read", { cwd: overrides.cwd ?? null });
  return {
    ...overrides,
    approvalPolicy: overrides.approvalPolicy ?? ("approval_policy" in origins ? null : "on-request"),
    sandbox: overrides.sandbox ?? ("sandbox_mode" in origins ? null : "workspace-write"),
  };
}

/** The prompt of `/init`. */
export const initPrompt =
  "Write AGENTS.md in the root of this project: what it is, how it is built, tested and linted, its layout, and the conventions that its code follows. Read the project first. Keep it under 60 lines, and change nothing else.";
