// Environments, their versions, their builds and the logs of those.
import type { ColumnType } from "kysely";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

export interface EnvironmentTable {
  id: string;
  team_id: number;
  /** Whose it is; null: the team's. */
  user_id: number | null;
  /** Unique per owner, so it is not sealed. */
  name: string;
  repos: Json<{ url: string }[]>;
  /** The version that counts. */
  version_id: string;
  active_build_id: Perhaps<string>;
  /** The file of a repository that wins over the saved configuration, as the last build saw it. */
  repo_file: Perhaps<{ url: string; path: string } | string>;
  /** 0: no recurring builds. */
  build_interval_hours: ColumnType<number, number | undefined, number>;
  next_build_at: Timestamp;
  /** Whether agents begin with the newest commit where the build is older than `staleness_hours`. */
  update_stale_builds: ColumnType<boolean, boolean | undefined, boolean>;
  staleness_hours: ColumnType<number, number | undefined, number>;
  created_at: Stamped;
  updated_at: Stamped;
}

export interface EnvironmentVersionTable {
  id: string;
  environment_id: string;
  /** Counts the versions of an environment from 1. */
  number: number;
  kind: "created" | "updated" | "deleted" | "backfilled" | "changed";
  source: "dashboard" | "setup_flow" | "restore" | "api" | "agent_run" | "repo_file" | "request_override";
  title: string;
  description: string;
  /** The text of environment.json. */
  config: Sealed;
  created_at: Stamped;
}

export interface EnvironmentBuildTable {
  /** `bld-YYYYMMDD-<uuid>` */
  id: string;
  environment_id: string;
  version_id: string;
  status: "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "CANCELLED" | "SKIPPED";
  trigger: "RECURRING" | "CONFIG_CHANGE" | "MANUAL";
  draft: boolean;
  failure_type: Perhaps<"INSTALL_FAILED" | "TERMINAL_FAILURE">;
  failure_code: Perhaps<string>;
  /** `install` and `start` of this build alone: one sealed JSON document. */
  overrides: Perhaps<Sealed>;
  /** `user:1`, `service_account:<uuid>`; null: the schedule. */
  requested_by: Perhaps<string>;
  /** Same key, same result: what it was made from. Known once it has begun. */
  content_key: Perhaps<string>;
  /** Of the configuration it was made with. */
  config_digest: Perhaps<string>;
  commits: Json<{ repoUrl: string; commit: string }[]>;
  /** What the executor needs in order to start machines from it. */
  output: Perhaps<string>;
  /** Who executes it, how often it changed hands, and until when: the fence of every write. */
  lease_owner: Perhaps<string>;
  lease_epoch: ColumnType<number, number | undefined, number>;
  lease_until: Perhaps<Date>;
  /** Servers that vanished while they executed it. */
  crashed_servers: ColumnType<number, number | undefined, number>;
  cancel_requested_at: Perhaps<Date>;
  started_at: Perhaps<Date>;
  /** A person decided that this draft does not become active. */
  discarded_at: Perhaps<Date>;
  completed_at: Perhaps<Date>;
  created_at: Stamped;
  updated_at: Stamped;
}

export interface EnvironmentBuildLogTable {
  build_id: string;
  seq: number;
  at: Stamped;
  text: Sealed;
}
