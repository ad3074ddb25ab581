// What the engine needs from its host to have hooks: which there are, and somebody to run their commands.
import type { HookDefinition, HookOf } from "@agentcli/protocol";

export interface HookRequest {
  definition: HookOf<"command">;
  /** One JSON document for its standard input. */
  input: string;
  /** Where the thread works. */
  cwd: string;
  timeoutMs: number;
  /** Variables that earlier hooks set for later ones. */
  environment: Record<string, string>;
}

export type HookRun =
  | { kind: "ran"; exitCode: number; stdout: string; stderr: string; timedOut: boolean; durationMs: number }
  /** It has answered, and not in a way that could be understood. */
  | { kind: "unclear"; reason: string; durationMs: number }
  /** The definition or its script is not what was trusted when the thread began. */
  | { kind: "modified" }
  /** There is no answer: it could not be started, or whoever was asked did not answer. */
  | { kind: "unanswered"; reason: string; durationMs: number };

export interface HookRunner {
  /** Settles in every case. Nothing of its process group is left when it does; on abort it is ended at once. */
  run(request: HookRequest, signal: AbortSignal): Promise<HookRun>;
}

/** Where an MCP server is: at an address, or what starts it. */
export type ServerPlace = { url: string } | { command: string };

export interface HookHost {
  /** In the order their reactions are taken together. */
  definitions: HookDefinition[];
  /** Known, and not run in this thread; each is said once. */
  skipped: { definition: HookDefinition; reason: string }[];
  runner: HookRunner;
  /** Whether definition and script are what they were when the thread began. */
  isUnchanged(definition: HookDefinition): Promise<boolean>;
  /** Bounds a hook whose own time-out is longer; null is no limit. */
  limitMs: number | null;
  projectRoot: string;
  version: string;
  /** MCP servers by name: hooks are told where a call goes. */
  servers: Record<string, ServerPlace>;
  /** The session file of a thread; null where none is kept. */
  transcriptPath(threadId: string): string | null;
}
