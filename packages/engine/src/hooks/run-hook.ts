// Runs one hook of any type: a command of the host, a question to the model, a tool of an MCP server.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import type { HookContext } from "../thread-hooks.ts";
import type { HookRun, HookRunResult } from "./hook-run.ts";
import type { HookEvent } from "./point.ts";
import type { HookHost } from "./port.ts";
import { runPromptHook } from "./prompt-hook.ts";
import { runToolHook } from "./tool-hook.ts";

export interface RunOptions {
  host: HookHost;
  context: HookContext;
  /** The working directory of the thread. */
  cwd: string;
  environment: Record<string, string>;
  signal: AbortSignal;
}

export async function runHook(
  definition: HookDefinition,
  { payload }: HookEvent,
  options: RunOptions,
): Promise<HookRunResult> {
  const { host, context, signal } = options;
  if (signal.aborted) return free({ kind: "unanswered", reason: "the run was stopped", durationMs: 0 });
  if (!(await host.isUnchanged(definition))) return free({ kind: "modified" });
  switch (definition.type) {
    case undefined:
    case "command":
      return free(await runCommand(definition, payload, options));
    case "prompt":
      return withTimeout(options, definition, (limited) =>
        runPromptHook(definition, payload, { ...context, signal: limited }),
      );
    case "mcp_tool":
      return withTimeout(options, definition, async (limited) =>
        free(await runToolHook(definition, payload, { ...context, signal: limited })),
      );
    case "agent":
      return free({ kind: "unanswered", reason: "hooks of type agent are not run", durationMs: 0 });
  }
}

const free = (run: HookRun): HookRunResult => ({ run, charge: null });

function runCommand(definition: HookOf<"command">, payload: object, options: RunOptions): Promise<HookRun> {
  const { host, cwd, environment, signal } = options;
  const { timeoutMs } = definition;
  return host.runner.run({ definition, input: JSON.stringify(payload), cwd, timeoutMs, environment }, signal);
}

/** Aborts the work at its timeout; a result that arrives after it is discarded. */
async function withTimeout(
  { context, signal }: RunOptions,
  { timeoutMs }: HookDefinition,
  work: (limited: AbortSignal) => Promise<HookRunResult>,
): Promise<HookRunResult> {
  const startedAt = performance.now();
  const [stop, over] = [new AbortController(), new AbortController()];
  const end = () => stop.abort(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  let timedOut = false;
  void context.wait(timeoutMs, over.signal).then(() => {
    if (over.signal.aborted) return;
    timedOut = true;
    stop.abort();
  });
  try {
    const result = await work(stop.signal);
    if (!timedOut) return result;
    const durationMs = performance.now() - startedAt;
    return { ...result, run: { kind: "ran", exitCode: 1, stdout: "", stderr: "", timedOut, durationMs } };
  } finally {
    over.abort();
    signal.removeEventListener("abort", end);
  }
}
