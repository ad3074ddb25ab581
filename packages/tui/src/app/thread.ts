// The thread that is shown: started, resumed or forked, and read again after a lost connection.
import type { ParamsOf, ThreadStartResponse, Turn } from "@agentcli/protocol/app-server";
import type { Client } from "../client/index.ts";
import type { Settings, TuiOptions } from "./state.ts";

export interface OpenedThread {
  threadId: string;
  name: string | null;
  settings: Settings;
  turns: Turn[];
}

export async function startThread(client: Client, options: TuiOptions): Promise<OpenedThread> {
  return opened(await client.request("thread/start", await overridesOf(client, options)));
}

export const opened = ({
  thread,
  model,
  cwd,
  sandbox,
  approvalPolicy,
  reasoningEffort,
}: ThreadStartResponse): OpenedThread => ({
  threadId: thread.id,
  name: thread.name ?? null,
  settings: { model, effort: reasoningEffort ?? null, cwd, sandbox, approval: approvalPolicy },
  turns: thread.turns,
});

/** A user is there to answer: unless configured otherwise, the agent may write in the project and asks for more. */
async function overridesOf(client: Client, { overrides }: TuiOptions): Promise<ParamsOf<"thread/start">> {
  const cwd = overrides.cwd ?? null;
  const { origins } = await client.request("config/read", { cwd });
  return {
    ...overrides,
    approvalPolicy: overrides.approvalPolicy ?? ("approval_policy" in origins ? null : "on-request"),
    sandbox: overrides.sandbox ?? ("sandbox_mode" in origins ? null : "workspace-write"),
  };
}
