// One run of a hook: the request to its runner, and how it ended.
import type { HookOf, Usage } from "@agentcli/protocol";

export interface HookRequest {
  definition: HookOf<"command">;
  /** One JSON document for its standard input. */
  input: string;
  /** The working directory of the thread. */
  cwd: string;
  timeoutMs: number;
  /** Variables that earlier hooks set for later ones. */
  environment: Record<string, string>;
}

export type HookRun =
  | { kind: "ran"; exitCode: number; stdout: string; stderr: string; timedOut: boolean; durationMs: number }
  /** The verdict of a model on a prompt hook. */
  | { kind: "judged"; ok: boolean; reason: string; durationMs: number }
  /** It answered in a form that could not be read. */
  | { kind: "unclear"; reason: string; durationMs: number }
  /** The definition or its script has changed since it was trusted. */
  | { kind: "modified" }
  /** There is no answer: it could not be started, or the model or server did not reply. */
  | { kind: "unanswered"; reason: string; durationMs: number };

/** Runs that a dialect has to interpret. */
export type HookAnswer = Extract<HookRun, { kind: "ran" | "judged" | "unclear" }>;

export interface HookRunner {
  /** Always settles, after its whole process group has ended; on abort that is ended at once. */
  run(request: HookRequest, signal: AbortSignal): Promise<HookRun>;
}

/** Cost of the model request of a prompt hook. */
export interface ModelCharge {
  usage: Usage;
  model: string;
  costUsd: number | null;
}

export interface HookRunResult {
  run: HookRun;
  charge: ModelCharge | null;
}
