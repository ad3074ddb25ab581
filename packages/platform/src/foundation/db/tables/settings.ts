// Settings of teams and of users. What was never changed has no member.
import type { ModelSelection, NewAgentDefault, TeamSettings, UserEgress } from "@agentcli/protocol/api";
import type { JSONColumnType } from "kysely";
import type { Stamped } from "./columns.ts";

/** The parts that follow add their members here. */
export interface StoredSettings {
  defaultModel?: ModelSelection | null;
  /** Of teams. Ids; null: all. */
  allowedModels?: string[] | null;
  egress?: StoredEgress | null;
  autofix?: boolean | null;
  newAgent?: NewAgentDefault | null;
  /** Of teams. */
  retention?: TeamSettings["retention"];
  /** Of teams. Who chose the limit in `teams`, or that there is none; absent: the operator, or it is still to be chosen. */
  spendLimitBy?: "team" | "operator";
}

/** Of a user without `locked`. */
export interface StoredEgress extends UserEgress {
  locked?: boolean;
}

export interface TeamSettingsTable {
  team_id: number;
  settings: JSONColumnType<StoredSettings>;
  updated_at: Stamped;
}

export interface UserSettingsTable {
  user_id: number;
  settings: JSONColumnType<StoredSettings>;
  updated_at: Stamped;
}
