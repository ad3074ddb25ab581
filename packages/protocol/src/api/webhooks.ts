// Webhooks: receivers of run notifications, payloads, and deliveries.
import { z } from "zod";
import { AgentId, PageQuery, pageOf, RunId, Timestamp, withoutUser } from "./common.ts";
import { RunStatus } from "./runs.ts";

export const Webhook = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .refine(withoutUser, "must not carry a user name or password"),
  secret: z
    .string()
    .min(32)
    .max(1024)
    .optional()
    .describe("Key of the signature in X-Webhook-Signature; without it messages are not signed"),
});
export type Webhook = z.infer<typeof Webhook>;

/** The body of a message. */
export const RunStatusChange = z
  .object({
    event: z.enum(["statusChange", "run.statusChange"]).describe("The first for agents created through API v0"),
    timestamp: Timestamp.describe("When the run ended"),
    id: AgentId,
    agentId: AgentId.optional().describe("Absent in v0, as runId"),
    runId: RunId.optional(),
    status: RunStatus.describe("In v0 FINISHED and ERROR only"),
    source: z.object({ repository: z.string(), ref: z.string().optional() }).optional(),
    target: z.object({ url: z.string(), branchName: z.string().optional(), prUrl: z.string().optional() }),
    summary: z.string().optional().describe("The final message, or what went wrong; cut after 32,000 characters"),
  })
  .meta({ id: "RunStatusChange" });
export type RunStatusChange = z.infer<typeof RunStatusChange>;

export const DeliveryStatus = z.enum(["WAITING", "DELIVERED", "DEAD"]);

export const WebhookAttempt = z.object({
  startedAt: Timestamp,
  durationMs: z.int().nonnegative(),
  outcome: z
    .enum(["delivered", "refused", "timed_out", "unreachable", "forbidden"])
    .describe("refused: the answer was not 2xx; forbidden: the address is private"),
  responseStatus: z.int().optional(),
});

export const WebhookDelivery = z
  .object({
    id: z.string().describe("X-Webhook-ID of every attempt"),
    runId: RunId,
    event: z.enum(["statusChange", "run.statusChange"]),
    status: DeliveryStatus.describe("DEAD: every attempt of the schedule failed"),
    createdAt: Timestamp,
    nextAttemptAt: Timestamp.optional(),
    attempts: z.array(WebhookAttempt),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryQuery = PageQuery.extend({ status: DeliveryStatus.optional() });
export const DeliveryPage = pageOf(WebhookDelivery);
