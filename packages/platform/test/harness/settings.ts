// Settings for tests.
import { join } from "node:path";
import type { Settings } from "../../src/foundation/config/index.ts";

/** No limit of requests at all. */
export const noRateLimits: Settings["rateLimits"] = {
  requestsPerMinute: 0,
  requestsPerMinutePerAddress: 0,
  wrongCredentialsPerMinute: 0,
  concurrentRequests: 0,
  concurrentRequestsPerAddress: 0,
  gitProcesses: 0,
  trustedProxies: [],
};

/** Machines of the server's own, each with one processor. */
export const localMachines: Settings["machines"] = {
  provider: "local",
  dockerSocket: "",
  diskBudget: "off",
  cpus: 1,
  idleMs: 60_000,
};

/** Default settings of a server with this data directory. */
export const testSettings = (dataDirectory: string): Settings => ({
  dataDirectory,
  listen: { host: "127.0.0.1", port: 0 },
  publicUrl: null,
  internalUrl: null,
  tls: null,
  roles: ["api", "runner", "scheduler", "gateway"],
  databaseUrl: null,
  databaseConnections: 10,
  queryTimeoutMs: 60_000,
  configFile: null,
  kekFile: join(dataDirectory, "kek"),
  kms: null,
  cloudRoles: { endpoint: "http://127.0.0.1:9", region: "us-east-1", audience: "sts.amazonaws.com", credentials: null },
  signingKey: { path: join(dataDirectory, "signing-key"), isGiven: false },
  committer: { name: "platform", email: "agent@platform.invalid" },
  objectStore: null,
  sourceHosts: { blocked: [], protected: [], github: null },
  botName: "platform",
  oidc: null,
  leaseMs: 10_000,
  stopTimeoutMs: 60_000,
  streamRetentionSeconds: 86_400,
  retention: {
    intervalSeconds: 3_600,
    idempotencyHours: 24,
    sessionDays: 30,
    deliveryDays: 30,
    workspaceDays: 30,
    machineDays: 90,
    mirrorDays: 30,
    buildDays: 30,
    firingDays: 90,
    workerDays: 30,
    draftHours: 24,
  },
  workers: { silenceMs: 60_000, waitSeconds: 86_400 },
  concurrentRuns: 10,
  allowPrivate: [],
  readableDirectories: [],
  machines: { provider: "host", dockerSocket: "", diskBudget: "off", cpus: null, idleMs: 60_000 },
  rateLimits: noRateLimits,
  metricsToken: null,
  models: { model: "practice" },
  variables: { PATH: process.env.PATH },
  unsetVariables: [],
  programDirectory: join(import.meta.dirname, "../../dist"),
});
