// Hooks of the projects of agents that run at the end of their session here, in the sandbox of their agent.
import { randomUUID } from "node:crypto";
import type { SessionHook, WorkerRequest } from "@agentcli/protocol/worker-link";
import type { OpenedWorkspace } from "@agentcli/workspace";
import type { AgentSandboxes } from "./sandboxes.ts";

export interface SessionHooks {
  keep(request: WorkerRequest<"session.hooks">): void;
  /** Once: they are forgotten then. What fails is logged. */
  run(agent: string): Promise<void>;
  runAll(): Promise<void>;
}

interface KeptHooks {
  request: WorkerRequest<"session.hooks">;
  /** By a clock that cannot be set. */
  since: number;
}

export function openSessionHooks(
  { open, close }: Pick<AgentSandboxes, "open" | "close">,
  log: (line: string) => void,
): SessionHooks {
  const kept = new Map<string, KeptHooks>();
  const run = async (agent: string): Promise<void> => {
    const { request, since = 0 } = kept.get(agent) ?? {};
    kept.delete(agent);
    if (request === undefined) return;
    const { hooks, ...sandbox } = request;
    const which = { agent, key: "session end", incarnation: randomUUID() };
    try {
      const workspace = await open({ ...sandbox, ...which, mode: "workspace-write" });
      const durationMs = Math.round(performance.now() - since);
      await Promise.all(hooks.map((hook) => execute(hook, { workspace, durationMs, log })));
    } catch (error) {
      log(`sessionEnd hooks of ${agent}: ${(error as Error).message}`);
    } finally {
      await close(which).catch(() => {});
    }
  };
  return {
    keep(request) {
      const since = kept.get(request.agent)?.since ?? performance.now();
      if (request.hooks.length === 0) kept.delete(request.agent);
      else kept.set(request.agent, { request, since });
    },
    run,
    runAll: async () => void (await Promise.all([...kept.keys()].map(run))),
  };
}

interface HookContext {
  workspace: OpenedWorkspace;
  durationMs: number;
  log(line: string): void;
}

/** The release, and the end of the worker, wait for them. */
const maxHookMs = 600_000;

async function execute({ input, ...command }: SessionHook, { workspace, durationMs, log }: HookContext): Promise<void> {
  const text = JSON.stringify({ ...input, duration_ms: durationMs });
  const start = { ...command, timeoutMs: Math.min(command.timeoutMs, maxHookMs) };
  const request = { id: `hook-${randomUUID()}`, start, input: text, endInput: true };
  const result = await workspace.exec(request, () => {}, AbortSignal.timeout(start.timeoutMs + 5_000));
  if (result.state === "exited" && result.exitCode === 0) return;
  log(`A sessionEnd hook failed: ${result.state === "exited" ? `exit code ${result.exitCode}` : result.state}.`);
}
