// `GET /v1/status`: what an operator or a status page needs to know of a platform. Counts and states; nothing of any team.
import { z } from "zod";
import { PlatformRole } from "../platform-config.ts";
import { Timestamp } from "./common.ts";

const Node = z.object({
  id: z.string(),
  roles: z.array(PlatformRole),
  version: z.string().optional().describe("Absent for a server of an earlier version"),
  state: z.enum(["running", "gone"]),
  startedAt: Timestamp,
  heartbeatAt: Timestamp,
});

export const PlatformStatus = z
  .object({
    status: z.enum(["ok", "degraded"]),
    problems: z.array(z.string()).describe("Why it is degraded, each as a sentence"),
    version: z.string(),
    nodeId: z.string().describe("The server that answers"),
    roles: z.array(PlatformRole),
    nodes: z.array(Node).describe("The servers of this database; those that are gone for a day are left out"),
    runs: z.object({
      queued: z.int(),
      oldestQueuedSeconds: z.number().describe("0 if none waits"),
      running: z.int(),
      concurrentRuns: z.int().describe("How many runs this server drives at once"),
    }),
    model: z.object({
      id: z.string().describe("Of agents that name none"),
      provider: z.string(),
      practice: z.boolean().describe("Whether it is the scripted model without intelligence"),
    }),
    database: z.object({ version: z.string(), latencyMs: z.number() }),
    storage: z.object({ freeBytes: z.number(), sizeBytes: z.number() }).describe("Of the data directory"),
    webhooks: z.object({ waiting: z.int() }),
  })
  .meta({ id: "PlatformStatus" });
export type PlatformStatus = z.infer<typeof PlatformStatus>;
