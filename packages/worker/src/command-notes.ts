// What help says below the flags of each command of the worker. Loaded only when help is printed.

export const workerNotes: Record<string, string> = {
  "worker start": `Connects to the platform and runs the commands of agents in sandboxes of this machine, until it is stopped.
Without --pool it is a machine of yours (a key of a user); with --pool it serves your team (a key of a service account).
See docs/workers.md.

Example:
  PLATFORM_BACKEND_URL=https://platform.example.com PLATFORM_API_KEY=… agent worker start --name laptop`,
  "worker debug":
    "Connects to nothing but the health check of the platform. Keys are not shown. Exits with 8 without a sandbox.",
  "worker controller": `Lists and watches the pending requests of the pools, claims each, and runs the program once for it.
The program gets PLATFORM_REQUEST_ID, PLATFORM_AGENT_WORKER_ID, PLATFORM_POOL, PLATFORM_REPO_URL and others; it
starts \`agent worker start --pool "$PLATFORM_POOL"\` somewhere. If it fails, so does the request.
Needs a key of a service account. See docs/workers.md.`,
};
