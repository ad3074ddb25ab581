// What a thread's tools can do with its sub-agents.
import type { AgentState, Part } from "@agentcli/protocol";
import type { AgentRole } from "./role.ts";

export interface SpawnRequest {
  role: AgentRole;
  model?: string;
  effort?: string;
  /** Of the child and of its first turn; a repeated request with the same id does not create a second child. */
  id: string;
  input: Part[];
  /** Sent to the child before its task. */
  background: string[];
}

export interface SendRequest {
  /** Id or nickname of a child. */
  target: string;
  input: Part[];
  /** A repeated request with the same id does not begin a second turn. */
  turnId: string;
  /** `now` interrupts what the child is doing. */
  when: "now" | "when-it-rests";
}

export type Refused = { refused: string };
export type SubagentName = { id: string; nickname: string };

/** The children of one thread, by id or nickname. */
export interface Subagents {
  /** What they can be. */
  readonly roles: AgentRole[];
  newId(): string;
  spawn(request: SpawnRequest): Promise<SubagentName | Refused>;
  /** Gives a child another turn. */
  send(request: SendRequest): Promise<SubagentName | Refused>;
  /** By id; an unknown target is reported as `not_found` under the given name. */
  states(targets: string[]): Record<string, AgentState>;
  /** Settles when one of these children has stopped running or does not exist, or on abort. */
  anyResting(targets: string[], signal: AbortSignal): Promise<void>;
  /** With all its descendants. */
  close(target: string): Promise<void>;
  reopen(target: string): SubagentName | Refused;
}
