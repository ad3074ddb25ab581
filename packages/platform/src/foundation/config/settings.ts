// Settings of a server, from flags, environment, file and defaults.
import type { PlatformConfig, PlatformRole } from "@agentcli/protocol";

export interface Settings {
  /** Keys, workspaces, sealed files, repositories: shared by servers of one database that have no object store. */
  dataDirectory: string;
  listen: { host: string; port: number };
  /** Null: the address served on. */
  publicUrl: string | null;
  /** Where other servers of the database reach this one; null: the address served on. */
  internalUrl: string | null;
  tls: { certificateFile: string; keyFile: string } | null;
  roles: PlatformRole[];
  /** Null: the embedded server. */
  databaseUrl: string | null;
  databaseConnections: number;
  /** Of each query of a request. */
  queryTimeoutMs: number;
  /** Null: there is none. */
  configFile: string | null;
  kekFile: string;
  /** The service that keeps the key-encryption key; null: the file does. */
  kms: KmsSettings | null;
  cloudRoles: CloudRoleSettings;
  /** One that was named must be there; the usual one is made. */
  signingKey: { path: string; isGiven: boolean };
  /** Whom commits of agents name. */
  committer: { name: string; email: string };
  /** Null: the data directory alone. */
  objectStore: ObjectStoreSettings | null;
  sourceHosts: SourceHostSettings;
  /** How people mention the platform in comments, without @. */
  botName: string;
  /** Null: no login through a provider. */
  oidc: OidcSettings | null;
  leaseMs: number;
  /** After a signal; what has not stopped by then is left to the leases. */
  stopTimeoutMs: number;
  streamRetentionSeconds: number;
  retention: RetentionSettings;
  workers: WorkerSettings;
  concurrentRuns: number;
  /** CIDR ranges. */
  allowPrivate: string[];
  /** More directories that agents may read. */
  readableDirectories: string[];
  machines: MachineSettings;
  rateLimits: RateLimitSettings;
  /** That reading the metrics needs; null: none, and only this machine may read them. */
  metricsToken: string | null;
  /** The keys that agentcli's configuration has too, as they were written. */
  models: ModelSettings;
  /** Traces and metrics of runs; undefined: none. */
  otel?: PlatformConfig["otel"];
  /** Where API keys of providers are looked up by their `env_key`. */
  variables: NodeJS.ProcessEnv;
  /** Secrets that the configuration expects in the environment, and that are not there. */
  unsetVariables: UnsetVariable[];
  /** Where the programs beside the built one are. */
  programDirectory: string;
}

export type ObjectStoreSettings =
  | { kind: "directory"; path: string }
  | {
      kind: "s3";
      /** Without a slash at its end. */
      endpoint: string;
      region: string;
      bucket: string;
      /** Empty, or with a slash at its end. */
      prefix: string;
      /** Read when they are needed. */
      accessKeyVariable: string;
      secretKeyVariable: string;
      sessionTokenVariable: string;
    };

export type KmsSettings = {
  /** Without a slash at its end. */
  endpoint: string;
  /** How long a data key is used without asking for it again. */
  cacheMs: number;
} & (
  | {
      kind: "aws";
      /** The ARN of the key. */
      key: string;
      region: string;
      /** Read when they are needed. */
      accessKeyVariable: string;
      secretKeyVariable: string;
      sessionTokenVariable: string;
    }
  | {
      kind: "vault";
      key: string;
      mount: string;
      /** Null: the root. */
      namespace: string | null;
      token: { kind: "file"; path: string } | { kind: "variable"; variable: string };
    }
);

/** How roles of AWS are assumed for agents. */
export interface CloudRoleSettings {
  /** Of the security token service, without a slash at its end. */
  endpoint: string;
  region: string;
  /** Of identity tokens. */
  audience: string;
  /** Variables with the credentials, read when they are needed; null: identity tokens are sent in their place. */
  credentials: { accessKeyVariable: string; secretKeyVariable: string; sessionTokenVariable: string } | null;
}

export interface WorkerSettings {
  /** A connection over which nothing came for this long has ended. */
  silenceMs: number;
  /** A run that has waited this long for a worker expires. */
  waitSeconds: number;
}

/** How long is kept what is not needed for good. */
export interface RetentionSettings {
  /** How often one server looks for what is due. */
  intervalSeconds: number;
  idempotencyHours: number;
  sessionDays: number;
  deliveryDays: number;
  /** Of archived agents. */
  workspaceDays: number;
  machineDays: number;
  mirrorDays: number;
  /** Of environments; images too. */
  buildDays: number;
  /** Of automations; their alerts too. */
  firingDays: number;
  /** From the end of its last connection. */
  workerDays: number;
  draftHours: number;
}

export interface UnsetVariable {
  /** The key that names the variable: `metrics.token_env`. */
  setting: string;
  variable: string;
  /** What to do, as a sentence. */
  remedy: string;
}

/** 0: no limit. */
export interface RateLimitSettings {
  /** Per team; 0: no rates at all. */
  requestsPerMinute: number;
  requestsPerMinutePerAddress: number;
  /** Per address. */
  wrongCredentialsPerMinute: number;
  /** Per user or service account. */
  concurrentRequests: number;
  concurrentRequestsPerAddress: number;
  /** Per team. */
  gitProcesses: number;
  /** CIDR ranges. */
  trustedProxies: string[];
}

export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Read when it is needed; null for a public client. */
  secretVariable: string | null;
  scopes: string[];
  /** For people. */
  name: string;
  /** In lower case. */
  allowedDomains: string[];
  allowedEmails: string[];
  team: string;
  /** Null: roles are not the provider's business. */
  administrators: { claim: string; groups: string[] } | null;
}

export interface SourceHostSettings {
  /** Patterns of HOST/PATH. */
  blocked: string[];
  /** Patterns of HOST/PATH, and the names of the teams that they are kept for. */
  protected: { pattern: string; teams: string[] }[];
  github: GithubSettings | null;
}

export interface GithubSettings {
  /** Of the API, without a slash at its end. */
  baseUrl: string;
  /** What is secret is read when it is needed: from the file, from the environment. */
  /** As what users connect their accounts to; null where they do not. */
  client: { id: string; secretVariable: string } | null;
  credentials: { kind: "app"; appId: string; privateKeyFile: string } | { kind: "token"; variable: string };
}

export type ModelSettings = Pick<
  PlatformConfig,
  | "openai_base_url"
  | "model_provider"
  | "model_providers"
  | "models"
  | "model_fallback"
  | "model_context_window"
  | "prices"
  | "compatible_folders"
  | "limits"
  | "budget"
> & {
  model: string;
  /** Ids of the models that a team may use; absent: all. */
  allowed?: string[];
};

export interface MachineSettings {
  provider: "auto" | "host" | "local" | "docker";
  /** Of the Docker daemon. */
  dockerSocket: string;
  /** What the disks of all machines may occupy together, as it is written; `off`: no limit. */
  diskBudget: string;
  /** Null: all processors. */
  cpus: number | null;
  /** How long a disk stays mounted after a run. */
  idleMs: number;
}
