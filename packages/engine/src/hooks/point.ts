// The points at which hooks run, before a dialect turns them into its events.
import type { McpOrigin, Outcome, TurnSettings, Usage } from "@agentcli/protocol";
import type { AgentIdentity } from "../thread-hooks.ts";

export interface HookCall {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** Set for a tool of an MCP server. */
  mcp?: McpOrigin | undefined;
}

export type HookPoint =
  | { kind: "session-started"; source: "startup" | "resume" | "compact" }
  | { kind: "prompted"; prompt: string }
  | { kind: "calling"; call: HookCall /** Of a file about to be read. */; content: string | null; reply: string }
  | { kind: "needing-approval"; call: HookCall }
  | { kind: "called"; call: HookCall; outcome: Outcome; durationMs: number }
  | { kind: "refused"; call: HookCall; reason: string }
  | { kind: "replied"; text: string; thought: string; usage: Usage }
  | { kind: "compacting"; tokens: number; window: number; messages: number; first: boolean }
  | { kind: "compacted" }
  | { kind: "ending"; message: string; continuations: number }
  /** Failed or stopped: hooks are notified and cannot object. */
  | { kind: "ended-badly"; status: "aborted" | "error" }
  | { kind: "agent-ending"; message: string; continuations: number; activity: AgentActivity }
  | { kind: "agent-starting"; agent: AgentIdentity }
  | { kind: "session-ended"; status: "completed" | "aborted" | "error"; error: string | null; durationMs: number };

/** What a sub-agent has done so far. */
export interface AgentActivity {
  agent: AgentIdentity;
  parentId: string;
  durationMs: number;
  messages: number;
  toolCalls: number;
  modifiedFiles: string[];
}

/** How an MCP server is reached: its address, or the command that starts it. */
export type ServerLocation = { url: string } | { command: string };

/** The thread a hook runs in; part of every payload. */
export interface ThreadInfo {
  /** The main thread, also in a sub-agent. */
  sessionId: string;
  turnId: string;
  settings: TurnSettings;
  transcriptPath: string | null;
  agentTranscriptPath: string | null;
  projectRoot: string;
  /** More members of the payload at the start of a session. */
  sessionFields: Record<string, unknown>;
  version: string;
  agent: AgentIdentity | null;
  /** MCP servers by name. */
  servers: Record<string, ServerLocation>;
}

/** One event of a dialect: the hooks it selects, and their payload. */
export interface HookEvent {
  event: string;
  /** Matchers are tested against these, any may match; null selects every hook of the event. */
  subjects: string[] | null;
  payload: Record<string, unknown>;
}
