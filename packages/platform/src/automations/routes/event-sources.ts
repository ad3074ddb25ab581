// Where source hosts send events: the addresses of a team, and the receiver of them all.
import { sizeBytes } from "@agentcli/host";
import type { EventSource } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError, readBody, schema, teamKey } from "../../foundation/index.ts";
import { requireTeamManager } from "../access.ts";
import type { AutomationHost } from "../host.ts";
import { defaultStored, storeDelivery } from "../inbound/deliveries.ts";
import { isSigned } from "../inbound/signature.ts";
import {
  createSource,
  type EventSourceRow,
  findSource,
  listSources,
  removeSource,
  secretOf,
} from "../inbound/store.ts";
import { tag } from "./automations.ts";

export function addEventSourceRoutes(api: Api, host: AutomationHost): void {
  addCreate(api, host);
  addList(api, host);
  addRemove(api, host);
  addReceiver(api, host);
}

const sourceOf = ({ platform }: AutomationHost, row: EventSourceRow): EventSource => ({
  id: row.id,
  type: "github",
  name: row.name,
  url: `${platform.publicUrl()}/events/github/${row.id}`,
  createdAt: row.created_at.toISOString(),
});

function addCreate(api: Api, host: AutomationHost): void {
  const { db, vault } = host.platform;
  api.route(
    {
      method: "post",
      path: "/v1/event-sources",
      summary: "Create an address that a source host sends events of the team to",
      tag,
      scope: "agents:write",
      body: schema("automations", "CreateEventSource"),
      answer: {
        status: 201,
        schema: schema("automations", "EventSourceCreated"),
        description: "Its address and the secret of the webhook",
      },
      problems: ["team_admin_required", "event_source_limit_reached"],
    },
    async ({ body: { name }, principal }) => {
      requireTeamManager(principal, "Addresses for events");
      const key = await teamKey(db, vault, principal.teamId);
      const { source, secret } = await createSource(db, { teamId: principal.teamId, name, key });
      return { ...sourceOf(host, source), secret };
    },
  );
}

function addList(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/event-sources",
      summary: "List the addresses that source hosts send events of the team to",
      tag,
      scope: "agents:read",
      answer: {
        status: 200,
        schema: schema("automations", "EventSourceList"),
        description: "All of them, oldest first",
      },
    },
    async ({ principal }) => {
      const rows = await listSources(host.platform.db, principal.teamId);
      return { items: rows.map((row) => sourceOf(host, row)) };
    },
  );
}

function addRemove(api: Api, { platform: { db } }: AutomationHost): void {
  api.route(
    {
      method: "delete",
      path: "/v1/event-sources/{sourceId}",
      summary: "Remove an address for events, with the events that came there",
      tag,
      scope: "agents:write",
      params: () => z.object({ sourceId: z.string() }),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["event_source_not_found", "team_admin_required"],
    },
    async ({ params: { sourceId }, principal }) => {
      requireTeamManager(principal, "Addresses for events");
      await removeSource(db, principal.teamId, sourceId.toLowerCase());
      return { id: sourceId };
    },
  );
}

const path = "/events/github/:id";
/** The largest that GitHub sends. */
const maxBodyBytes = 25 * 1024 * 1024;
const maxHeaderLength = 200;

/** Answers as soon as the event is stored: what it starts is decided later, and once. */
function addReceiver(api: Api, { platform: { db, vault, settings } }: AutomationHost): void {
  const maxStoredBytes = sizeBytes(settings.models.limits?.events ?? defaultStored);
  api.app.post(path, async (context) => {
    context.set("route", path);
    const { req } = context;
    const source = await findSource(db, (req.param("id") ?? "").toLowerCase());
    const signature = req.header("x-hub-signature-256");
    const refuse = () => {
      api.admission.noteWrongSecret(context);
      return new ApiError("unauthorized", "The signature is missing or wrong: check the secret of the webhook.");
    };
    // Without a signature nothing is read.
    if (source === null || signature === undefined) throw refuse();
    const sender = { teamId: source.team_id, name: `event_source:${source.id}` };
    api.admission.admitUnverifiedBody(context, sender, maxBodyBytes);
    const body = await readBody(context.env.incoming, maxBodyBytes);
    const key = await teamKey(db, vault, source.team_id);
    if (!isSigned(body, signature, secretOf(source, key))) throw refuse();
    api.admission.admitSender(context, sender);
    const [name, deliveryId] = [req.header("x-github-event") ?? "", req.header("x-github-delivery") ?? ""];
    if (![name, deliveryId].every((text) => text.length > 0 && text.length <= maxHeaderLength))
      throw new ApiError("validation_error", "X-GitHub-Event and X-GitHub-Delivery: must have 1 to 200 characters.");
    if (!isJson(body))
      throw new ApiError("validation_error", "The body: is not JSON. Choose application/json on the host.");
    const isNew = await storeDelivery(db, { source, deliveryId, name, body, key }, maxStoredBytes);
    return context.json({ received: true, duplicate: !isNew }, 202);
  });
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
