// How an agent waits: it subscribes, ends its turn, and is woken in the same conversation when something has come.
import type { Tool } from "@agentcli/engine";
import type { Subscription, SubscriptionFilter } from "@agentcli/protocol/api";
import { z } from "zod";
import { ApiError } from "../../foundation/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import { done, platformTool, refused, type ToolAnswer } from "./tool.ts";

export interface SubscriptionToolOptions {
  /** Of the agent; the first is the default. */
  repositories: string[];
  /** Throws ApiError. */
  subscribe(filter: SubscriptionFilter, signal: AbortSignal): Promise<Subscription>;
  /** Those that are active. */
  list(): Promise<Subscription[]>;
  /** False if there is no such one. */
  cancel(id: string): Promise<boolean>;
}

export const subscriptionTools = (options: SubscriptionToolOptions): Tool[] => [
  ...(options.repositories.length > 0 ? [subscribeToPull(options)] : []),
  setTimer(options),
  listAll(options),
  unsubscribe(options),
];

const PullSubscription = z.strictObject({
  number: z.int().min(1).max(999_999_999),
  repository: z.string().optional().describe("Its address, if you work on several"),
  events: z
    .array(z.enum(["comments", "reviews", "checks"]))
    .min(1)
    .max(3)
    .default(["comments", "reviews", "checks"]),
});

const Timer = z.strictObject({
  delaySeconds: z.int().min(1).max(15_552_000).optional(),
  cron: z.string().min(1).max(200).optional(),
  timezone: z.string().min(1).max(100).optional(),
  note: z.string().max(2000).default("").describe("For yourself, when you are woken"),
});

const Nothing = z.strictObject({});

const SubscriptionId = z.strictObject({ id: z.string().min(1).max(100) });

const ending = "Then end your turn: you are woken in this conversation.";

const subscribeToPull = ({ repositories, subscribe }: SubscriptionToolOptions): Tool =>
  platformTool({
    name: "subscribe_to_pull_request",
    description: `Wait for comments, reviews or results of checks on a pull request. ${ending}`,
    arguments: PullSubscription,
    onResume: "once",
    run: ({ number: pullRequest, repository, events }, signal) =>
      orRefused(async () => {
        const repoUrl = repository ?? repositories[0] ?? "";
        const { id } = await subscribe({ source: "source_host", repoUrl, pullRequest, events }, signal);
        return done(`Subscribed (${id}) to ${events.join(", ")} of pull request ${pullRequest}. ${ending}`);
      }),
  });

const setTimer = ({ subscribe }: SubscriptionToolOptions): Tool =>
  platformTool({
    name: "set_timer",
    description: `Wait for a time: delaySeconds from now, or again and again with cron (five fields). ${ending}`,
    arguments: Timer,
    onResume: "once",
    run: (timer, signal) =>
      orRefused(async () => {
        const { id, nextAt } = await subscribe({ source: "timer", ...timer }, signal);
        return done(`Set a timer (${id}) for ${nextAt ?? "never"}. ${ending}`);
      }),
  });

const listAll = ({ list }: SubscriptionToolOptions): Tool =>
  platformTool({
    name: "list_subscriptions",
    description: "List what you wait for.",
    arguments: Nothing,
    onResume: "rerun",
    run: async () => done(JSON.stringify(await list())),
  });

const unsubscribe = ({ cancel }: SubscriptionToolOptions): Tool =>
  platformTool({
    name: "unsubscribe",
    description: "Wait no longer for what a subscription or a timer is for.",
    arguments: SubscriptionId,
    onResume: "rerun",
    run: async ({ id }) =>
      (await cancel(id)) ? done(`Cancelled ${id}.`) : refused(`There is no active subscription ${id}.`),
  });

async function orRefused(work: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof RepositoryFault)) throw error;
    return refused(error.message);
  }
}
