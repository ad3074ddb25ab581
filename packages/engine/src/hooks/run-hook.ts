// Runs one hook, whatever it is: a command of the host, a question to the model, a tool of an MCP server.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import type { Drive } from "../running.ts";
import type { Occasion } from "./moment.ts";
import type { HookHost, HookRun } from "./port.ts";
import { askModel, type Paid } from "./prompt-hook.ts";
import { callServer } from "./tool-hook.ts";

export interface Running {
  host: HookHost;
  /** The thread that asks. */
  drive: Drive;
  /** Where the thread works. */
  cwd: string;
  environment: Record<string, string>;
  signal: AbortSignal;
}

export interface Ran {
  run: HookRun;
  /** What a model took for it. */
  paid: Paid | null;
}

export async function runHook(definition: HookDefinition, { payload }: Occasion, running: Running): Promise<Ran> {
  const { host, drive, signal } = running;
  if (signal.aborted) return unpaid({ kind: "unanswered", reason: "the run was stopped", durationMs: 0 });
  if (!(await host.isUnchanged(definition))) return unpaid({ kind: "modified" });
  switch (definition.type) {
    case undefined:
    case "command":
      return unpaid(await runCommand(definition, payload, running));
    case "prompt":
      return within(running, definition, (limited) => askModel(definition, payload, { ...drive, signal: limited }));
    case "mcp_tool":
      return within(running, definition, async (limited) =>
        unpaid(await callServer(definition, payload, { ...drive, signal: limited })),
      );
    case "agent":
      return unpaid({ kind: "unanswered", reason: "hooks of type agent are not run", durationMs: 0 });
  }
}

const unpaid = (run: HookRun): Ran => ({ run, paid: null });

function runCommand(definition: HookOf<"command">, payload: object, running: Running): Promise<HookRun> {
  const { host, cwd, environment, signal } = running;
  const { timeoutMs } = definition;
  return host.runner.run({ definition, input: JSON.stringify(payload), cwd, timeoutMs, environment }, signal);
}

/** Ends the work when its time is over; what it brought until then does not count. */
async function within(
  { drive, signal }: Running,
  { timeoutMs }: HookDefinition,
  work: (limited: AbortSignal) => Promise<Ran>,
): Promise<Ran> {
  const startedAt = performance.now();
  const [stop, over] = [new AbortController(), new AbortController()];
  const end = () => stop.abort(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  let timedOut = false;
  void drive.wait(timeoutMs, over.signal).then(() => {
    if (over.signal.aborted) return;
    timedOut = true;
    stop.abort();
  });
  try {
    const ran = await work(stop.signal);
    if (!timedOut) return ran;
    const durationMs = performance.now() - startedAt;
    return { ...ran, run: { kind: "ran", exitCode: 1, stdout: "", stderr: "", timedOut, durationMs } };
  } finally {
    over.abort();
    signal.removeEventListener("abort", end);
  }
}
