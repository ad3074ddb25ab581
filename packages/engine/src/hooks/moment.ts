// The moments hooks are told of, before a dialect puts them into its words.
import type { McpOrigin, Outcome, TurnSettings, Usage } from "@agentcli/protocol";
import type { AgentIdentity } from "./gate.ts";
import type { ServerPlace } from "./port.ts";

export interface Call {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** Where it goes, for a tool of an MCP server. */
  mcp?: McpOrigin | undefined;
}

export type Moment =
  | { kind: "session-started"; source: "startup" | "resume" | "compact" }
  | { kind: "prompted"; prompt: string }
  | { kind: "calling"; call: Call /** Of a file about to be read. */; content: string | null; said: string }
  | { kind: "needing-approval"; call: Call }
  | { kind: "called"; call: Call; outcome: Outcome; durationMs: number }
  | { kind: "refused"; call: Call; reason: string }
  | { kind: "replied"; text: string; thought: string; usage: Usage }
  | { kind: "compacting"; tokens: number; window: number; messages: number; first: boolean }
  | { kind: "compacted" }
  | { kind: "ending"; message: string; continuations: number }
  /** Failed or stopped: nobody is asked whether that may be. */
  | { kind: "ended-badly"; status: "aborted" | "error" }
  | { kind: "agent-ending"; message: string; continuations: number; work: AgentWork }
  | { kind: "agent-starting"; agent: AgentIdentity }
  | { kind: "session-ended"; status: "completed" | "aborted" | "error"; error: string | null; durationMs: number };

/** What a sub-agent has done so far. */
export interface AgentWork {
  agent: AgentIdentity;
  parentId: string;
  durationMs: number;
  messages: number;
  toolCalls: number;
  modifiedFiles: string[];
}

/** What both dialects say about the thread with every moment. */
export interface Facts {
  /** The thread a person knows of, also in a sub-agent. */
  sessionId: string;
  turnId: string;
  settings: TurnSettings;
  transcriptPath: string | null;
  agentTranscriptPath: string | null;
  projectRoot: string;
  version: string;
  agent: AgentIdentity | null;
  /** Of MCP servers, by name. */
  servers: Record<string, ServerPlace>;
}

/** One event of a dialect: which hooks it is for, and what they are told. */
export interface Occasion {
  event: string;
  /** What matchers are held against, any of them; null: every hook of the event is meant. */
  subjects: string[] | null;
  payload: Record<string, unknown>;
}
