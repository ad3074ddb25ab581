// Hooks of a project at the claim and the release of a worker. The first ones run as part of a run; the others are left with the
// worker, which may be released when no run is active.
import type { HookDefinition, TurnSettings } from "@agentcli/protocol";
import type { SessionHook } from "@agentcli/protocol/worker-link";
import type { UsedWorker } from "../../../fleet/index.ts";
import type { RunPlan } from "./plan.ts";

/** Of a conversation that goes on: its agent may have claimed the worker before this run. */
export const hooksOfSession = (hooks: HookDefinition[], worker: UsedWorker | null): HookDefinition[] =>
  hooks.filter(({ event }) => event !== "sessionStart" || worker?.isNewSession === true);

/** For hooks at the claim. */
export function sessionFields({ settings: { repos } }: RunPlan["agent"]): Record<string, unknown> {
  return {
    is_background_agent: true,
    repo_urls: repos.map(({ url }) => url),
    repos: repos.map(({ url, startingRef }, index) => ({
      ...{ repo_url: url, primary: index === 0 },
      ...(startingRef !== undefined && { ref: startingRef }),
    })),
  };
}

interface SessionContext {
  plan: RunPlan;
  turn: TurnSettings;
  version: string;
}

export function sessionEndHooks(hooks: HookDefinition[], { plan, turn, version }: SessionContext): SessionHook[] {
  const { id: agentId } = plan.agent;
  return hooks.flatMap((hook): SessionHook[] => {
    if (hook.event !== "sessionEnd" || (hook.type ?? "command") !== "command" || !("command" in hook)) return [];
    const cwd = hook.directory ?? turn.cwd;
    return [
      {
        argv: [turn.shell, "-c", hook.command],
        cwd,
        env: { PLATFORM_PROJECT_DIR: cwd, PLATFORM_VERSION: version },
        timeoutMs: hook.timeoutMs,
        input: {
          ...{ conversation_id: agentId, session_id: agentId, generation_id: "", model: turn.model },
          ...{ hook_event_name: "sessionEnd", platform_version: version, workspace_roots: [turn.cwd] },
          ...{ user_email: null, transcript_path: null, is_background_agent: true },
          ...{ reason: "completed", final_status: "completed" },
        },
      },
    ];
  });
}
