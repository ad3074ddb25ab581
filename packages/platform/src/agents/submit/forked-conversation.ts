// What a new agent takes from another: its conversation up to one of its turns.
import type { StoredRecord } from "@agentcli/engine";
import type { AgentFork } from "../../foundation/index.ts";

export interface ForkedConversation {
  settings: AgentFork;
  /** Of the original. */
  records: StoredRecord[];
  lastTurnId: string;
}
