// What the engine needs from its host to run hooks.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookDialects } from "./dialect.ts";
import type { HookRunner } from "./hook-run.ts";
import type { ServerLocation } from "./point.ts";

export interface HookHost {
  /** In the order their reactions are combined. */
  definitions: HookDefinition[];
  dialects: HookDialects;
  /** Configured, and not run in this thread; each is reported once. */
  skipped: { definition: HookDefinition; reason: string }[];
  runner: HookRunner;
  /** Whether definition and script are unchanged since the thread began. */
  isUnchanged(definition: HookDefinition): Promise<boolean>;
  /** Bounds a hook whose own timeout is longer; null means unlimited. */
  limitMs: number | null;
  projectRoot: string;
  /** More members of the payload at the start of a session. */
  sessionFields?: Record<string, unknown>;
  version: string;
  /** MCP servers by name: payloads of their calls name the address. */
  servers: Record<string, ServerLocation>;
  /** The session file of a thread; null if it is not stored. */
  transcriptPath(threadId: string): string | null;
}
