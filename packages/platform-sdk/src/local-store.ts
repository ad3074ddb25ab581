// Where local agents are kept: what a store promises.
import type { ModelSelection, StreamFrame, Run as WireRun } from "@agentcli/protocol/api";
import type { TokenUsage } from "./messages.ts";

/** Several processes may have one open; `claim` keeps those that write apart. Lists are oldest first. */
export interface LocalAgentStore {
  agents: {
    list(): Promise<LocalAgentRecord[]>;
    get(agentId: string): Promise<LocalAgentRecord | null>;
    /** Replaces what was there, in one step. */
    put(agent: LocalAgentRecord): Promise<void>;
    /** With its runs, their events and its checkpoints. */
    delete(agentId: string): Promise<void>;
  };
  runs: {
    list(agentId: string): Promise<LocalRunRecord[]>;
    /** Replaces what was there, in one step. */
    put(run: LocalRunRecord): Promise<void>;
    /** Asks the process that drives the run to stop. */
    requestCancel(agentId: string, runId: string): Promise<void>;
    isCancelRequested(agentId: string, runId: string): Promise<boolean>;
  };
  runEvents: {
    append(agentId: string, runId: string, events: LocalRunEvent[]): Promise<void>;
    /** Those behind number `after`. */
    read(agentId: string, runId: string, after: number): Promise<LocalRunEvent[]>;
  };
  /** The conversation and those of its sub-agents, as the engine writes them down. */
  checkpoints: {
    /** They outlive a crash of the machine once this settles. */
    append(agentId: string, threadId: string, checkpoints: LocalCheckpoint[]): Promise<void>;
    read(agentId: string, threadId: string): Promise<LocalCheckpoint[]>;
  };
  /** One holder at a time, over all processes; what a holder that died has held is free. */
  claim(agentId: string): Promise<LocalClaim>;
}

export type LocalClaim = { kind: "held"; release(): Promise<void> } | { kind: "busy"; holder: string };

export interface LocalAgentRecord {
  agentId: string;
  name: string;
  cwd: string;
  /** Where that led, without links, when it was given: another directory there later is not the agent's. */
  realCwd?: string;
  createdAt: string;
  updatedAt: string;
  isArchived: boolean;
  model?: ModelSelection;
  mode?: "agent" | "plan";
  latestRunId?: string;
  /** Of its last run; later ones keep it unless they say otherwise. */
  sandbox?: "workspace-write" | "none";
  /** The hooks its conversation began with. */
  hooks?: object[];
}

export interface LocalRunRecord extends WireRun {
  model?: ModelSelection;
  usage?: TokenUsage;
  idempotencyKey?: string;
}

export interface LocalRunEvent {
  /** Counts from 1. */
  seq: number;
  frame: StreamFrame;
}

export interface LocalCheckpoint {
  /** Counts from 1 in its thread. */
  seq: number;
  /** RFC 3339, UTC. */
  at: string;
  record: object;
}
