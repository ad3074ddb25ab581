// Subscriptions: an agent ends its turn and is woken by events, as a follow-up in the same conversation.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const SubscriptionFilter = z.discriminatedUnion("source", [
  z.strictObject({
    source: z.literal("source_host"),
    repoUrl: z.string().min(1).max(2000).describe("A repository of the agent"),
    pullRequest: z.int().min(1).max(999_999_999).optional().describe("Its number; left out: all of the repository"),
    events: z
      .array(z.enum(["comments", "reviews", "checks"]))
      .min(1)
      .max(3)
      .default(["comments", "reviews", "checks"]),
  }),
  z.strictObject({
    source: z.literal("timer"),
    delaySeconds: z.int().min(1).max(15_552_000).optional().describe("Once, so much later"),
    cron: z.string().min(1).max(200).optional().describe("Five fields; again and again"),
    timezone: z.string().min(1).max(100).optional().describe("Of cron; UTC by default"),
    note: z.string().max(2000).default("").describe("For the agent, when it is woken"),
  }),
]);
export type SubscriptionFilter = z.infer<typeof SubscriptionFilter>;

const days = z.int().min(1).max(180).default(180).describe("It ends after so many days");

export const CreateSubscription = z.strictObject({ filter: SubscriptionFilter, days });

export const Subscription = z.object({
  id: z.string().describe("sub-<uuid>"),
  agentId: z.string(),
  source: z.enum(["source_host", "timer", "ci_fix"]).describe("ci_fix: failed checks of a pull request of the agent"),
  filter: z.discriminatedUnion("source", [
    ...SubscriptionFilter.options,
    z.object({ source: z.literal("ci_fix"), repoUrl: z.string(), pullRequest: z.int() }),
  ]),
  status: z.enum(["active", "cancelled", "expired", "done"]),
  endedReason: z.string().optional(),
  lastSkipped: z
    .object({ at: Timestamp, reason: z.string() })
    .optional()
    .describe("The latest event that did not wake the agent, such as one of a loop of agents, and why"),
  nextAt: Timestamp.optional().describe("When the timer fires next"),
  createdBy: z.string().describe("A person, or agent:<id>"),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type Subscription = z.infer<typeof Subscription>;
export const SubscriptionList = z.object({ items: z.array(Subscription) });
