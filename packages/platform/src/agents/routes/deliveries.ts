// Deliveries of an agent's webhook over HTTP: list them, and send one again.
import { z } from "zod";
import { type Api, ApiError, decodeCursor, encodeCursor, schema } from "../../foundation/index.ts";
import { listDeliveries, redeliver } from "../../integrations/index.ts";
import type { AgentHost } from "./agents.ts";

const ofAgent = () => z.object({ id: z.string() });
const one = () => z.object({ id: z.string(), deliveryId: z.string() });
const tag = "Webhooks";

export function addDeliveryRoutes(api: Api, host: AgentHost): void {
  addList(api, host);
  addRedeliver(api, host);
}

function addList(api: Api, { platform: { db }, access }: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/webhooks/deliveries",
      summary: "List the deliveries of an agent's webhook, newest first; status=DEAD are the dead letters",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: ofAgent,
      query: schema("webhooks", "DeliveryQuery"),
      answer: { status: 200, schema: schema("webhooks", "DeliveryPage"), description: "A page of deliveries" },
    },
    async ({ params, query: { cursor, limit, status }, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      const found = await listDeliveries(db, agent.id, { limit, status, after: decodeCursor(cursor) });
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const isMore = found.length > items.length && last;
      const position = last && { createdAt: new Date(last.createdAt), id: last.id };
      return { items, ...(isMore && position && { nextCursor: encodeCursor(position) }) };
    },
  );
}

function addRedeliver(api: Api, { platform: { db }, access }: AgentHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/agents/{id}/webhooks/deliveries/{deliveryId}/redeliver",
      summary: "Send a message again now, under the same id; if it fails, the retry schedule starts over",
      tag,
      scope: "agents:write",
      sharing: "manage",
      rateLimit: { requests: 10, seconds: 60 },
      params: one,
      answer: { status: 200, schema: schema("webhooks", "WebhookDelivery"), description: "The delivery, waiting" },
      problems: ["delivery_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "manage");
      const delivery = await redeliver(db, agent.id, params.deliveryId);
      if (delivery) return delivery;
      throw new ApiError("delivery_not_found", `Agent ${agent.id} has no delivery ${params.deliveryId.slice(0, 100)}.`);
    },
  );
}
