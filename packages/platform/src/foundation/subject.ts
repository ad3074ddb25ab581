// A subject of the platform as a value: the routes it serves, and the work it does between requests.
import type { PlatformRole } from "@agentcli/protocol";
import type { Api } from "./http/index.ts";
import type { RetentionRule } from "./retention.ts";

/** What `open(context)` of a subject returns, beside the capabilities it offers to other subjects. */
export interface Subject {
  /** Adds its routes. Called once, before the server listens. */
  routes?(api: Api): void;
  activities?: ActivityDefinition[];
  /** What it removes when it has outlived its use. */
  retention?: RetentionRule[];
}

export interface ActivityDefinition {
  /** Runs on servers that have this role; `every server` runs on all. */
  role: PlatformRole | "every server";
  /** Called once, after the server listens. */
  start(): Activity | Promise<Activity>;
}

/** Work that goes on between requests. */
export interface Activity {
  /** Hands back unfinished work: another server, or the next start, continues it. */
  stop(): Promise<void>;
}
