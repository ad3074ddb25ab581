// What a server is told, from flags, environment, file and defaults.
import type { PlatformConfig, PlatformRole } from "@agentcli/protocol";

export interface Settings {
  /** Shared by all servers of one database: keys, workspaces, sealed files, repositories. */
  dataDirectory: string;
  listen: { host: string; port: number };
  /** Null: the address served on. */
  publicUrl: string | null;
  tls: { certificateFile: string; keyFile: string } | null;
  roles: PlatformRole[];
  /** Null: the embedded server. */
  databaseUrl: string | null;
  databaseConnections: number;
  kekFile: string;
  leaseMs: number;
  streamRetentionSeconds: number;
  concurrentRuns: number;
  /** CIDR ranges. */
  allowPrivate: string[];
  /** 0: no limit. */
  requestsPerMinute: number;
  /** The keys that agentcli's configuration has too, as they were written. */
  models: ModelSettings;
  /** Where API keys of providers are looked up by their `env_key`. */
  variables: NodeJS.ProcessEnv;
  /** Where the programs beside the built one are. */
  programDirectory: string;
}

export type ModelSettings = Pick<
  PlatformConfig,
  "model_provider" | "model_providers" | "models" | "model_context_window" | "prices" | "limits" | "budget"
> & { model: string };
