// What runs of automations propose instead of doing it, back-tests, and what is left of old firings.
import type { Generated } from "kysely";
import type { Perhaps, Sealed, Timestamp } from "./columns.ts";

/** Stored events that are replayed for an automation. */
export interface AutomationBacktestTable {
  /** `test-<uuid>` */
  id: string;
  automation_id: string;
  /** How many events. */
  last: number;
  created_by: string;
  created_at: Timestamp;
  /** The events and what became of them: one sealed JSON document; null until a server has looked at them. */
  items: Perhaps<Sealed>;
}

/** An agent that an automation started, whose firing was removed after the retention. */
export interface AutomationAgentTable {
  agent_id: string;
  automation_id: string;
  firing_id: string;
  planned_at: Timestamp;
}

/** What a run would have written. */
export interface AutomationProposalTable {
  agent_id: string;
  /** Of the call of the model: a call that is repeated after a crash is one proposal. */
  call_id: string;
  run_id: string;
  tool: string;
  arguments: Sealed;
  created_at: Timestamp;
  /** In the order of the calls. */
  position: Generated<string>;
}
