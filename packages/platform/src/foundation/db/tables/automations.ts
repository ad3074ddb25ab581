// Automations, what triggers them, the record of each firing, and alerts.
import type { ColumnType, Generated } from "kysely";
import type { RunStatus } from "./agents.ts";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

export interface AutomationTable {
  /** `auto-<uuid>` */
  id: string;
  team_id: number;
  /** Whose it is; null: the team's. */
  user_id: number | null;
  scope: "private" | "team_visible" | "team_owned";
  /** Unique per owner, so it is not sealed. */
  name: string;
  /** Description, prompt, model, triggers, target and tools: one sealed JSON document. */
  definition: Sealed;
  missed: "catch_up" | "skip" | "alert";
  /** Counts the changes of its definition. */
  version: ColumnType<number, number | undefined, number>;
  enabled: boolean;
  disabled_reason: Perhaps<string>;
  disabled_at: Perhaps<Date>;
  created_at: Stamped;
  updated_at: Stamped;
}

/** What the scheduler needs of a trigger; all of it is in the definition. */
export interface AutomationTriggerTable {
  /** `trg-<uuid>` */
  id: string;
  automation_id: string;
  position: number;
  type: "cron" | "webhook" | "github";
  cron: string | null;
  timezone: string | null;
  /** Of a source host; null for other triggers. */
  event: Perhaps<string>;
}

/** Where a source host sends the events of a team. */
export interface EventSourceTable {
  id: string;
  team_id: number;
  /** `git_host`: the embedded one, which needs no address; of each team one at most. */
  type: "github" | "git_host";
  name: string;
  secret: Sealed;
  /** Of its events, each with 1024 for its row. A trigger subtracts those that are removed. */
  stored_bytes: Generated<number>;
  created_at: Stamped;
}

/** An event as it came, stored before anything is done with it. */
export interface InboundEventTable {
  id: string;
  source_id: string;
  /** Of the host; a delivery that is repeated has the same. */
  delivery_id: string;
  /** `pull_request`, `push`, … */
  name: string;
  body: Sealed;
  status: "received" | "processed" | "failed";
  /** How many it led to. */
  firings: Perhaps<number>;
  /** What the host has answered about it; null: it was not asked. */
  facts: Perhaps<Sealed>;
  /** `poll`: its delivery never came, and the platform asked for it. */
  via: ColumnType<"webhook" | "poll", "webhook" | "poll" | undefined, never>;
  created_at: Stamped;
  processed_at: Perhaps<Date>;
}

/** Comments do not say whether their pull request is of a fork; other events do. */
export interface InboundPullRequestTable {
  source_id: string;
  url: string;
  is_fork: boolean;
  seen_at: Stamped;
}

export interface AutomationWebhookKeyTable {
  /** The public part of `pla_<id>_<secret>`. */
  id: string;
  automation_id: string;
  name: string;
  hash: Buffer;
  created_at: Stamped;
}

export interface AutomationFiringTable {
  /** `fire-<uuid>` */
  id: string;
  automation_id: string;
  source: "schedule" | "webhook" | "manual" | "github" | "git_host";
  /** The trigger may be gone. */
  trigger_id: string | null;
  status: "planned" | "started" | "skipped" | "missed" | "failed";
  /** Written by the platform. */
  reason: Perhaps<string>;
  planned_at: Timestamp;
  /** When its status became final. */
  decided_at: Perhaps<Date>;
  /** Two firings of an automation with the same key are one. */
  dedupe_key: string | null;
  /** Of the request that had the key. */
  body_hash: Perhaps<Buffer>;
  /** The event that caused it: one sealed JSON document. */
  payload: Perhaps<Sealed>;
  /** Chosen before the agent exists: starting it twice makes one. */
  agent_id: string;
  run_id: Perhaps<string>;
  /** Written with the end of the run. */
  run_status: Perhaps<RunStatus>;
  /** The firing whose run caused the event. */
  cause_id: Perhaps<string>;
  /** What led to its event, the nearest first; null: it has none, or is of an older version. */
  causes: ColumnType<CauseLink[] | null, string | null | undefined, string | null>;
  /** The server that starts it, and until when no other one does. */
  claimed_by: Perhaps<string>;
  claimed_until: Perhaps<Date>;
  /** How often a server began to start it. */
  attempts: ColumnType<number, number | undefined, number>;
  /** When the limits of its automation let it start; null: they were not asked. */
  admitted_at: Perhaps<Date>;
  /** US dollars that its run may cost. */
  reserved_usd: Perhaps<string>;
  /** What its run would write is recorded, and not written; null: it is written. */
  effects: Perhaps<"shadow" | "backtest">;
  /** The back-test that it is part of. */
  backtest_id: Perhaps<string>;
  /** The delivery of its event never came, and the platform asked for it. */
  recovered: Generated<boolean>;
  created_at: Stamped;
}

export interface AutomationAlertTable {
  /** `alert-<uuid>` */
  id: string;
  automation_id: string;
  firing_id: string | null;
  kind: "missed" | "overdue" | "failed_to_start" | "run_failed" | "disabled" | "limit_reached";
  /** Written by the platform. */
  message: string;
  created_at: Stamped;
}

/** One version of a file that the runs of an automation keep. */
export interface AutomationMemoryTable {
  automation_id: string;
  name: string;
  version: number;
  bytes: number;
  /** Null: it was deleted. */
  text: Sealed | null;
  /** A person, or `agent:<id>`. */
  author: string;
  created_at: Stamped;
}

/** An agent that waits for events. */
export interface SubscriptionTable {
  /** `sub-<uuid>` */
  id: string;
  agent_id: string;
  team_id: number;
  source: "source_host" | "timer" | "ci_fix";
  filter: Sealed;
  status: "active" | "cancelled" | "expired" | "done";
  ended_reason: Perhaps<string>;
  /** Of a timer. */
  next_at: Perhaps<Date>;
  created_by: string;
  /** Whom its wake-ups act for, `user:1` or `service_account:<uuid>`; null: the owner of the agent. */
  acts_as: Perhaps<string>;
  /** How often it has woken the agent. */
  wake_ups: Generated<number>;
  /** Of an automatic fix: what its pull request shows. */
  shown_state: Perhaps<string>;
  /** The latest event that was not delivered, and why. */
  skipped_at: Perhaps<Date>;
  skipped_reason: Perhaps<string>;
  created_at: Stamped;
  expires_at: Timestamp;
}

/** An event that came for a subscription. Those with one batch wake the agent together. */
export interface SubscriptionEventTable {
  subscription_id: string;
  event_id: string;
  agent_id: string;
  entry: Sealed;
  /** What led to it, the nearest first. */
  causes: ColumnType<CauseLink[], string | undefined, string>;
  created_at: Stamped;
  /** The wake-up that it belongs to. */
  batch_id: Perhaps<string>;
  /** Null: it waits. */
  run_id: Perhaps<string>;
}

/** An agent that did something which led to an event, and the automation that had started it. */
export interface CauseLink {
  agentId: string;
  firingId: string | null;
  automationId: string | null;
  /** Of the automation; of another agent its id. */
  name: string;
}

/** Events that wake an agent together. Its run has the id of the wake-up as `request_id`. */
export interface WakeUpTable {
  /** `wake-<uuid>` */
  id: string;
  agent_id: string;
  /** The one that started the agent, whose limits count. */
  automation_id: string | null;
  /** As in subscriptions. */
  acts_as: string | null;
  causes: Json<CauseLink[]>;
  created_at: Timestamp;
  /** Limits let it wait until then. */
  retry_at: Perhaps<Date>;
  admitted_at: Perhaps<Date>;
  reserved_usd: Perhaps<string>;
}

/** A comment in which a person has asked the platform for something. */
export interface MentionTable {
  /** Of the event. */
  id: string;
  team_id: number;
  /** Whom its run acts for; null where it was refused. */
  user_id: number | null;
  /** As the host names the person. */
  sender: string;
  repo_url: string;
  kind: "pull_request" | "issue";
  number: number;
  /** Chosen before a new agent exists; of one that is continued its id. */
  agent_id: string | null;
  is_new_agent: boolean;
  /** The prompt. */
  prompt: Sealed;
  status: "planned" | "started" | "refused";
  reason: Perhaps<string>;
  run_id: Perhaps<string>;
  retry_at: Timestamp;
  /** Those that failed for another reason than a refusal. */
  attempts: Generated<number>;
  created_at: Stamped;
}

/** When the platform next asks a host for deliveries that never came. */
export interface DeliveryPollTable {
  /** `github`: the webhook of the app; `github <team> <address>`: those of a repository. */
  connection: string;
  next_at: Timestamp;
  /** Deliveries up to then are known. */
  seen_until: Perhaps<Date>;
  failure: Perhaps<string>;
  /** How many it has found. */
  recovered: Generated<number>;
}

/** A branch that an agent of an automation made. Kept as long as the automation. */
export interface AutomationBranchTable {
  automation_id: string;
  /** Without scheme: `github.com/o/r`. */
  repo_url: string;
  branch: string;
  pr_url: string | null;
}

/** The latest result of a check on a branch, as an event told it. */
export interface BranchCheckTable {
  source_id: string;
  /** Its address, in lower case. */
  repository: string;
  branch: string;
  name: string;
  is_failing: boolean;
  seen_at: Timestamp;
}
