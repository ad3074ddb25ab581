// Subscriptions of agents over HTTP: people see them, make them and cancel them.
import { z } from "zod";
import { type Api, ApiError, principalName, schema, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { endSubscription, listSubscriptions } from "../subscriptions/store.ts";
import { subscribe } from "../subscriptions/subscribe.ts";
import { subscriptionOf } from "../subscriptions/view.ts";

const tag = "Subscriptions";
const one = () => z.object({ id: z.string() });
const path = "/v1/agents/{id}/subscriptions";

export function addSubscriptionRoutes(api: Api, host: AutomationHost): void {
  addCreate(api, host);
  addList(api, host);
  addCancel(api, host);
}

function addCreate(api: Api, host: AutomationHost): void {
  const { db, vault } = host.platform;
  api.route(
    {
      method: "post",
      path,
      summary: "Subscribe an agent to events that wake it",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: one,
      body: schema("subscriptions", "CreateSubscription"),
      answer: { status: 201, schema: schema("subscriptions", "Subscription"), description: "The subscription" },
      problems: ["agent_not_found", "forbidden"],
    },
    async ({ params, body, principal }) => {
      const agent = await host.agents.find(principal, params.id, "follow_up");
      const requester = principalName(principal);
      const request = { agent, ...body, createdBy: requester, actsAs: requester };
      const row = await subscribe(host, request, AbortSignal.timeout(30_000));
      return subscriptionOf(await teamKey(db, vault, row.team_id), row);
    },
  );
}

function addList(api: Api, host: AutomationHost): void {
  const { db, vault } = host.platform;
  api.route(
    {
      method: "get",
      path,
      summary: "List the subscriptions of an agent, newest first",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: {
        status: 200,
        schema: schema("subscriptions", "SubscriptionList"),
        description: "Those that have ended as well, 200 at most",
      },
      problems: ["agent_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await host.agents.find(principal, params.id, "read");
      const key = await teamKey(db, vault, agent.team_id);
      return { items: (await listSubscriptions(db, agent.id)).map((row) => subscriptionOf(key, row)) };
    },
  );
}

function addCancel(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "delete",
      path: `${path}/{subscriptionId}`,
      summary: "Cancel a subscription; what has come for it and was not delivered is dropped",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: () => one().extend({ subscriptionId: z.string() }),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["agent_not_found", "forbidden", "subscription_not_found"],
    },
    async ({ params: { id, subscriptionId }, principal }) => {
      const agent = await host.agents.find(principal, id, "follow_up");
      const end = { status: "cancelled", reason: `Cancelled by ${principalName(principal)}.` } as const;
      const isEnded = await endSubscription(host.platform.db, { id: subscriptionId, agentId: agent.id }, end);
      if (isEnded) return { id: subscriptionId };
      throw new ApiError(
        "subscription_not_found",
        `Agent ${agent.id} has no active subscription ${subscriptionId.slice(0, 100)}.`,
      );
    },
  );
}
