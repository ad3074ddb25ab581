// Keys of the platform's config.toml. Each is also an environment variable. The descriptions are the documentation.
import { z } from "zod";
import { BudgetConfig, Limits, ModelFallback, OtelConfig, PriceConfig, Size } from "./config-limits.ts";
import { ModelProvider } from "./config-servers.ts";

export const PlatformRole = z.enum(["api", "runner", "scheduler", "gateway"]);
export type PlatformRole = z.infer<typeof PlatformRole>;

const seconds = z.int().positive().max(31_536_000);

const Network = z.object({
  allow_private: z
    .array(z.string())
    .optional()
    .describe("Private addresses that repositories and servers may have, as CIDR ranges"),
});

/** 0 means no limit. */
const limit = z.int().min(0).optional();

const RateLimits = z.object({
  requests_per_minute: z
    .int()
    .min(0)
    .optional()
    .describe(
      "Requests of one team to one server; 0 means no limit, also for addresses, wrong credentials and single routes (1200)",
    ),
  requests_per_minute_per_address: limit.describe("Requests from one address, with or without a key (30000)"),
  wrong_credentials_per_minute: limit.describe(
    "Wrong keys, sessions, login links and invitations from one address; above it, only credentials that were accepted before are (600)",
  ),
  concurrent_requests: limit.describe("Concurrent requests and streams of one user or service account (1000)"),
  concurrent_requests_per_address: limit.describe("Concurrent requests and streams from one address (4000)"),
  git_processes: limit.describe(
    "Concurrent git processes for requests of one team, and as many that fetch and push for its agents (32)",
  ),
  trusted_proxies: z
    .array(z.string())
    .optional()
    .describe("Proxies whose X-Forwarded-For names the address of the client, as CIDR ranges; of others it is ignored"),
});

const days = z.int().positive().max(3650).optional();

const Retention = z.object({
  interval_seconds: seconds
    .optional()
    .describe("How often one server looks for what has outlived its retention (3600)"),
  idempotency_hours: z
    .int()
    .positive()
    .max(8760)
    .optional()
    .describe("How long a request with the same Idempotency-Key is answered like the first (24)"),
  session_days: days.describe("How long ended sessions, expired login links and expired invitations are kept (30)"),
  delivery_days: days.describe("How long ended webhook deliveries are kept, from their last attempt (30)"),
  workspace_days: days.describe("How long an archived agent keeps its files; its conversation and artifacts stay (30)"),
  machine_days: days.describe(
    "How long an agent without runs keeps the disk of its machine; its repositories stay (90)",
  ),
  mirror_days: days.describe("How long the copy of a repository is kept that no agent uses (30)"),
  build_days: days.describe(
    "How long builds of environments are kept that are not active, and images that are not the base (30)",
  ),
  firing_days: days.describe("How long firings of automations, with what caused them, and alerts are kept (90)"),
  worker_days: days.describe("How long a worker is listed that does not connect any more (30)"),
  draft_hours: z
    .int()
    .positive()
    .max(8760)
    .optional()
    .describe("Age at which unfinished files of a killed server are removed (24)"),
});

const Workers = z.object({
  silence_seconds: z
    .int()
    .positive()
    .max(3600)
    .optional()
    .describe("A connection of a worker over which nothing came for this long has ended, for both sides (60)"),
  wait_seconds: seconds.optional().describe("A run that has waited this long for a worker expires (86400)"),
});

const Committer = z.object({
  name: z.string().min(1).optional().describe("Name of the committer (platform)"),
  email: z.string().min(3).optional().describe("Address of the committer (agent@platform.invalid)"),
});

const Github = z.object({
  base_url: z
    .string()
    .optional()
    .describe("The API of an enterprise server, such as https://HOST/api/v3 (https://api.github.com)"),
  app_id: z.string().regex(/^\d+$/, "must be a number").optional().describe("Id of the GitHub App that agents act as"),
  private_key_file: z.string().optional().describe("PEM file with the private key of the app, mode 0600"),
  token_env: z.string().optional().describe("Variable with a token to use in place of an app"),
  client_id: z
    .string()
    .optional()
    .describe(
      "Client id of the app, for users to connect their accounts; agents then reach what their user may push to",
    ),
  client_secret_env: z.string().optional().describe("Variable with the client secret of the app"),
});

const SourceHosts = z.object({
  blocked: z
    .array(z.string())
    .optional()
    .describe("Repositories that no agent may reach, as HOST/PATH; * stands for anything"),
  protected: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe("HOST/PATH, * for anything, to the teams whose agents alone may reach these repositories"),
  github: Github.optional().describe("How agents reach GitHub"),
});

const MetricsAccess = z.object({
  token_env: z
    .string()
    .optional()
    .describe("Variable with the bearer token that reading /metrics needs; without one only this machine may read"),
});

const Oidc = z.object({
  issuer: z.string().optional().describe("Address of the OpenID provider, as it names itself"),
  client_id: z.string().min(1).optional().describe("The client id of the platform there"),
  client_secret_env: z.string().optional().describe("Variable with the secret of that client (none: a public client)"),
  name: z.string().min(1).optional().describe("The name of the provider on the login page (its host)"),
  allowed_domains: z
    .array(z.string())
    .optional()
    .describe("Domains of addresses whose owners become members when they first log in"),
  allowed_emails: z.array(z.string()).optional().describe("Addresses whose owners become members as well"),
  team: z.string().min(1).optional().describe("The team that they join (default)"),
  admin_groups: z
    .array(z.string())
    .optional()
    .describe("Members of these groups are administrators, all others are not; updated at each login"),
  scopes: z.array(z.string()).optional().describe("Requested scopes (openid, email, profile)"),
  groups_claim: z.string().min(1).optional().describe("The claim that names the groups of a user (groups)"),
});

const ObjectStore = z.object({
  directory: z.string().optional().describe("A directory that all servers mount; in place of a bucket"),
  bucket: z.string().min(3).max(63).optional().describe("A bucket of S3, or of a server that speaks its protocol"),
  endpoint: z.string().optional().describe("Address of that server (https://s3.REGION.amazonaws.com)"),
  region: z.string().min(1).optional().describe("Region of the bucket (us-east-1)"),
  prefix: z.string().optional().describe("What the keys of all objects begin with, such as platform (nothing)"),
  access_key_id_env: z.string().optional().describe("Variable with the access key id (AWS_ACCESS_KEY_ID)"),
  secret_access_key_env: z.string().optional().describe("Variable with its secret (AWS_SECRET_ACCESS_KEY)"),
  session_token_env: z
    .string()
    .optional()
    .describe("Variable with the token of temporary credentials (AWS_SESSION_TOKEN)"),
});

const Kms = z.object({
  provider: z.enum(["aws", "vault"]).optional().describe("aws: AWS KMS; vault: the transit engine of Vault or OpenBao"),
  key: z.string().min(1).optional().describe("The ARN of the key of AWS KMS, or the name of the key in the engine"),
  endpoint: z
    .string()
    .optional()
    .describe("Address of the service; Vault needs it (https://kms.REGION.amazonaws.com, with the region of the ARN)"),
  cache_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe("How long a data key is used without asking the service for it again (600)"),
  access_key_id_env: z.string().optional().describe("Variable with the access key id of AWS (AWS_ACCESS_KEY_ID)"),
  secret_access_key_env: z.string().optional().describe("Variable with its secret (AWS_SECRET_ACCESS_KEY)"),
  session_token_env: z
    .string()
    .optional()
    .describe("Variable with the token of temporary credentials (AWS_SESSION_TOKEN)"),
  mount: z.string().optional().describe("Where the engine of Vault is mounted (transit)"),
  namespace: z.string().min(1).optional().describe("The namespace of Vault that it is in (the root)"),
  token_env: z.string().optional().describe("Variable with the token of Vault (VAULT_TOKEN)"),
  token_file: z
    .string()
    .optional()
    .describe("A file with the token, read for each request: an agent of Vault keeps it fresh; in place of token_env"),
});

const CloudRoles = z.object({
  identity: z
    .enum(["token", "credentials"])
    .optional()
    .describe("What the platform proves itself with to AWS: its own identity tokens, or credentials (token)"),
  region: z.string().min(1).optional().describe("Region of the security token service (us-east-1)"),
  endpoint: z.string().optional().describe("Address of that service (https://sts.REGION.amazonaws.com)"),
  audience: z.string().min(1).max(512).optional().describe("Audience of the tokens (sts.amazonaws.com)"),
  access_key_id_env: z.string().optional().describe("Variable with the access key id (AWS_ACCESS_KEY_ID)"),
  secret_access_key_env: z.string().optional().describe("Variable with its secret (AWS_SECRET_ACCESS_KEY)"),
  session_token_env: z
    .string()
    .optional()
    .describe("Variable with the token of temporary credentials (AWS_SESSION_TOKEN)"),
});

export const PlatformConfig = z.object({
  listen: z.string().optional().describe("HOST:PORT to serve on; port 0 takes a free one (127.0.0.1:7420)"),
  public_url: z.string().optional().describe("Address in the links given out (the one served on)"),
  internal_url: z
    .string()
    .optional()
    .describe("Address where the other servers of the database reach this one (the one served on)"),
  tls_cert: z.string().optional().describe("PEM file with the certificate; served over TLS 1.2 or newer"),
  tls_key: z.string().optional().describe("PEM file with the key of tls_cert"),
  roles: z.array(PlatformRole).optional().describe("What this server does (all of them)"),
  database_url: z.string().optional().describe("A PostgreSQL server (an embedded one in the data directory)"),
  database_connections: z
    .int()
    .positive()
    .max(1000)
    .optional()
    .describe("Maximum number of connections of this server (20)"),
  query_timeout_seconds: z
    .int()
    .positive()
    .max(3600)
    .optional()
    .describe("How long a request waits for one answer of the database, before its own is 503 (10)"),
  kek_file: z.string().optional().describe("The key that wraps all data keys, mode 0600 (kek in the data directory)"),
  kms: Kms.optional().describe("A service that keeps the key-encryption key, in place of kek_file"),
  cloud_roles: CloudRoles.optional().describe("How agents get credentials of roles of AWS"),
  signing_key_file: z
    .string()
    .optional()
    .describe("Ed25519 key that commits are signed with, mode 0600 (signing-key in the data directory)"),
  object_store: ObjectStore.optional().describe(
    "Where artifacts, repositories and files of agents are kept, so that servers with other data directories have them",
  ),
  committer: Committer.optional().describe("The committer of commits by agents"),
  source_hosts: SourceHosts.optional().describe("Where repositories come from"),
  bot_name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, "must be a name of letters, digits and .-_")
    .optional()
    .describe("How people mention the platform in comments, without @, such as the slug of its GitHub App (platform)"),
  oidc: Oidc.optional().describe("An OpenID provider that users log in with"),
  lease_seconds: seconds.optional().describe("How long a run belongs to a server that does not report (10)"),
  stop_timeout_seconds: z
    .int()
    .positive()
    .max(3600)
    .optional()
    .describe("How long SIGTERM waits for an orderly end; the leases of its runs cover the rest (20)"),
  stream_retention_seconds: seconds.optional().describe("How long the stream of an ended run can be read (86400)"),
  retention: Retention.optional().describe("How long is kept what is not needed for good"),
  workers: Workers.optional().describe("Machines of customers that run the commands of agents"),
  concurrent_runs: z
    .int()
    .positive()
    .max(1000)
    .optional()
    .describe(
      "Maximum number of concurrent runs of this server; with several teams, one alone has three quarters of them (50)",
    ),
  model: z
    .string()
    .optional()
    .describe("The model of agents that name none (gpt-5.4 with AGENT_API_KEY or a provider, otherwise practice)"),
  openai_base_url: z.string().optional().describe("Base URL of the built-in openai provider"),
  model_provider: z.string().optional().describe("Which entry of model_providers to use (openai)"),
  model_providers: z.record(z.string(), ModelProvider).optional().describe("Servers that speak a model wire"),
  models: z
    .array(z.string())
    .optional()
    .describe("More models that agents may name; PROVIDER/MODEL is one of another entry of model_providers"),
  model_fallback: ModelFallback,
  model_context_window: z
    .int()
    .positive()
    .optional()
    .describe("Context window in tokens, where the model is not known"),
  otel: OtelConfig.optional().describe("Traces and metrics of runs"),
  prices: z.record(z.string(), PriceConfig).optional().describe("Prices by model, over those that are built in"),
  compatible_folders: z
    .boolean()
    .optional()
    .describe(
      "Also read skills, commands and agents of other tools in repositories: .codex/skills, .claude/skills, .claude/commands, .claude/agents (true)",
    ),
  limits: Limits.extend({
    disk: Size.optional().describe("Files of an agent on disk; a run that exceeds it is ended (20g)"),
    events: Size.optional().describe("Events of source hosts that are stored for one team; more are refused (1g)"),
  })
    .optional()
    .describe("Limits of a run, by name"),
  sandbox: z
    .object({
      readable: z
        .array(z.string().startsWith("/"))
        .optional()
        .describe("More directories that agents may read, such as tool chains in /opt"),
    })
    .optional()
    .describe("What agents see of the machine"),
  machines: z
    .object({
      provider: z
        .enum(["auto", "host", "local", "docker"])
        .optional()
        .describe(
          "Where agents work: local, a machine each; docker, a container each; host, a directory of the server; auto, local where it works (host)",
        ),
      docker_socket: z
        .string()
        .startsWith("/")
        .optional()
        .describe("The Unix socket of the Docker daemon (/var/run/docker.sock)"),
      disk_budget: Size.optional().describe(
        "What the disks of all machines of a host may occupy together; those of idle agents go, the least recently used first (off)",
      ),
      cpus: z.number().positive().optional().describe("Processors that each machine may use, such as 1.5 (all)"),
      idle_seconds: z
        .int()
        .nonnegative()
        .max(86_400)
        .optional()
        .describe("How long the disk of a machine stays mounted after a run (60)"),
    })
    .optional()
    .describe("Machines of agents"),
  budget: BudgetConfig.optional().describe("What a run may spend, its sub-agents included"),
  network: Network.optional().describe("Reachable addresses"),
  metrics: MetricsAccess.optional().describe("Who may read /metrics"),
  rate_limits: RateLimits.optional().describe(
    "Limits of requests, for every way in, counted by each server; 0 means no limit",
  ),
});
export type PlatformConfig = z.infer<typeof PlatformConfig>;
