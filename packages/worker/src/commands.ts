// The command line of the worker, as a table: `agent worker …` and `agentcli worker …` are made from it.
import type { CommandDescription, Flag } from "@agentcli/command-line";

const table = {
  endpoint: { short: "e", value: "URL", help: "Address of the platform (PLATFORM_BACKEND_URL)" },
  "api-key": {
    value: "KEY",
    help: "Key for the platform; others may see it in the list of processes (PLATFORM_API_KEY)",
  },
  "auth-token": { value: "TOKEN", help: "Token of a claim instead of a key (PLATFORM_AUTH_TOKEN)" },
  "auth-token-file": { value: "FILE", help: "File with the key or token; read again at each connection" },
  pool: {
    ...{ value: "NAME", valueByDefault: "default", repeatable: true, aliases: ["pool-name"] },
    help: "Serve this pool of the team, one agent at a time; default without a name (PLATFORM_WORKER_POOL_NAME; controller: several)",
  },
  name: { value: "NAME", help: "Name of this machine (PLATFORM_WORKER_NAME; its host name)" },
  label: { value: "KEY=VALUE", repeatable: true, help: "Label of this worker; a key may occur several times" },
  "labels-file": { value: "FILE", help: "Labels as a table of JSON or TOML (PLATFORM_WORKER_LABELS_FILE)" },
  "worker-dir": {
    ...{ value: "DIR", repeatable: true },
    help: "Directory whose git remote says which repository this machine is for; the first counts (.)",
  },
  "worker-id": { value: "ID", help: "Id of this worker (PLATFORM_AGENT_WORKER_ID; one is kept in the data directory)" },
  "data-dir": { value: "DIR", help: "Where the files of agents are kept (~/.local/share/agent-worker)" },
  "management-addr": { value: "HOST:PORT", help: "Serve /healthz, /readyz and /metrics here; off by default" },
  "idle-release-timeout": {
    value: "SECONDS",
    help: "End after so long without work of an agent, in a pool (3600; 0: never; PLATFORM_WORKER_IDLE_RELEASE_TIMEOUT)",
  },
  "single-use": { help: "End after the first agent of the pool" },
  "on-session-start": {
    value: "COMMAND",
    help: "Run this when an agent claims the worker; if it fails, so does the run",
  },
  "on-session-end": { value: "COMMAND", help: "Run this when the agent releases the worker, or the worker ends" },
  "sync-dashboard-secrets": { help: "Let the platform send the secrets of agents here, for their commands" },
  "mint-github-token": {
    help: "Let the platform send a token for the first repository of an agent here, as GH_TOKEN and GITHUB_TOKEN",
  },
  "clone-git-repos": {
    help: "Clone the repositories of agents here instead of getting them from the platform; in a pool, implies --mint-github-token",
  },
  "identity-socket": {
    help: "Serve agents a socket (PLATFORM_AGENT_SOCKET) that gives them identity tokens of the platform (OIDC)",
  },
  "computer-use": { help: "Refused at start: agents of this version have no tools for a desktop" },
  display: { value: "DISPLAY", help: "Display for --computer-use; refused like it" },
  "share-desktop": {
    ...{ value: "MODE", valueByDefault: "view", choices: ["view", "view_and_control"] },
    help: "Show the desktop of --computer-use to people; refused like it",
  },
  debug: { help: "Log each request of the platform" },
  spawn: { value: "PATH", help: "Program that starts a worker, once for each request" },
  "all-pools": { help: "Serve every pool of the team" },
  "warm-idle": { value: "N", help: "Keep so many idle workers per pool, and claim nothing" },
  "session-token": { help: "Give the worker a token for its claim instead of the key" },
  repository: { value: "URL", help: "Only requests for this repository" },
  json: { help: "Print JSON" },
  verbose: { help: "Print what else a worker here depends on: versions, proxy, limits" },
} as const satisfies Record<string, Flag>;

export type WorkerFlag = keyof typeof table;
export const workerFlags: Record<WorkerFlag, Flag> = table;

const identity = ["endpoint", "api-key", "auth-token", "auth-token-file", "pool", "name"] as const;
const machine = ["label", "labels-file", "worker-dir", "worker-id", "data-dir"] as const;

export const startCommand: CommandDescription<WorkerFlag> = {
  path: ["worker", "start"],
  takes: "[--pool NAME]",
  maxPositionals: 0,
  summary: "Let agents of a platform work on this machine",
  flags: [
    ...identity,
    ...machine,
    ...(["management-addr", "idle-release-timeout", "single-use", "on-session-start", "on-session-end"] as const),
    ...(["sync-dashboard-secrets", "mint-github-token", "clone-git-repos", "identity-socket"] as const),
    ...(["computer-use", "display", "share-desktop", "debug"] as const),
  ],
};

export const debugCommand: CommandDescription<WorkerFlag> = {
  path: ["worker", "debug"],
  takes: "[--json | --verbose]",
  maxPositionals: 0,
  summary: "Show what a worker here would register, and whether it could work",
  flags: [...identity, ...machine, "sync-dashboard-secrets", "mint-github-token", "clone-git-repos", "json", "verbose"],
};

export const controllerCommand: CommandDescription<WorkerFlag> = {
  path: ["worker", "controller"],
  takes: "--spawn PATH (--pool NAME … | --all-pools)",
  maxPositionals: 0,
  summary: "Start a worker for each request that waits for one",
  flags: [
    ...(["spawn", "pool", "all-pools", "warm-idle", "session-token", "repository"] as const),
    ...(["endpoint", "api-key", "auth-token-file"] as const),
  ],
};
