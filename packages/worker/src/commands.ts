// The command line of the worker, as a table: `agent worker …` and `agentcli worker …` are made from it.
import type { CommandDescription, Flag } from "@agentcli/command-line";

const table = {
  endpoint: { short: "e", value: "URL", help: "Address of the platform (PLATFORM_BACKEND_URL)" },
  "auth-token-file": { value: "FILE", help: "File with the key; read again at each connection (PLATFORM_API_KEY)" },
  pool: { value: "NAME", help: "Serve this pool of the team, one agent at a time (PLATFORM_WORKER_POOL_NAME)" },
  name: { value: "NAME", help: "Name of this machine (its host name)" },
  label: { value: "KEY=VALUE", repeatable: true, help: "Label of this worker; a key may occur several times" },
  "worker-dir": { value: "DIR", help: "Directory whose git remote says which repository this machine is for (.)" },
  "worker-id": { value: "ID", help: "Id of this worker (PLATFORM_AGENT_WORKER_ID; one is kept in the data directory)" },
  "data-dir": { value: "DIR", help: "Where the files of agents are kept (~/.local/share/agent-worker)" },
} as const satisfies Record<string, Flag>;

export type WorkerFlag = keyof typeof table;
export const workerFlags: Record<WorkerFlag, Flag> = table;

export const workerCommand: CommandDescription<WorkerFlag> = {
  path: ["worker", "start"],
  takes: "[--pool NAME]",
  maxPositionals: 0,
  summary: "Let agents of a platform work on this machine",
  flags: Object.keys(table) as WorkerFlag[],
  notes: `Connects to the platform and runs the commands of agents in sandboxes of this machine, until it is stopped.
Without --pool it is a machine of yours (a key of a user); with --pool it serves your team (a key of a service account).
See docs/workers.md.

Example:
  PLATFORM_BACKEND_URL=https://platform.example.com PLATFORM_API_KEY=… agent worker start --name laptop`,
};
