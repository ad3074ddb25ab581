// Firings and alerts over HTTP: run now, list; and the keys of webhooks.
import { z } from "zod";
import { type Api, ApiError, decodeCursor, pageOf, schema } from "../../foundation/index.ts";
import { listAlerts } from "../alerts.ts";
import { fire } from "../firings/fire.ts";
import { listFirings } from "../firings/store.ts";
import type { AutomationHost } from "../host.ts";
import { alertOf, firingOf, webhookUrl } from "../views.ts";
import { createWebhookKey, removeWebhookKey } from "../webhook-keys.ts";
import { one, tag } from "./automations.ts";

export function addFiringRoutes(api: Api, host: AutomationHost): void {
  addRun(api, host);
  addList(api, host);
  addAlerts(api, host);
  addCreateKey(api, host);
  addRemoveKey(api, host);
}

function addRun(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/automations/{automationId}/run",
      summary: "Start a run of an automation now",
      tag,
      scope: "agents:write",
      rateLimit: { requests: 30, seconds: 60 },
      params: one,
      answer: {
        status: 200,
        schema: schema("automations", "Firing"),
        description: "The firing; it says why if no run could start",
      },
      problems: ["automation_not_found", "automation_disabled", "idempotency_conflict", "team_admin_required"],
    },
    async ({ params, principal, header }) => {
      const automation = await host.access.find(principal, params.automationId, "manage");
      if (!automation.enabled)
        throw new ApiError(
          "automation_disabled",
          `Automation ${automation.id} is disabled: ${automation.disabled_reason} Enable it first.`,
        );
      const idempotencyKey = header("idempotency-key") ?? null;
      const request = { source: "manual", triggerId: null, payload: null, idempotencyKey, skipReason: null } as const;
      return firingOf(await fire(host, automation, request));
    },
  );
}

function addList(api: Api, { platform: { db }, access }: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations/{automationId}/firings",
      summary: "List the firings of an automation by planned time, latest first, also planned ones",
      tag,
      scope: "agents:read",
      params: one,
      query: schema("automations", "FiringQuery"),
      answer: { status: 200, schema: schema("automations", "FiringPage"), description: "A page of firings" },
      problems: ["automation_not_found"],
    },
    async ({ params, query: { cursor, limit, status }, principal }) => {
      const { id } = await access.find(principal, params.automationId, "read");
      const rows = await listFirings(db, id, { limit, status, after: decodeCursor(cursor) });
      const page = pageOf(rows, limit, (row) => ({ createdAt: row.planned_at, id: row.id }));
      return { ...page, items: page.items.map(firingOf) };
    },
  );
}

function addAlerts(api: Api, { platform: { db }, access }: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations/{automationId}/alerts",
      summary: "List the alerts of an automation, newest first: firings without a good run",
      tag,
      scope: "agents:read",
      params: one,
      query: schema("common", "PageQuery"),
      answer: { status: 200, schema: schema("automations", "AutomationAlertPage"), description: "A page of alerts" },
      problems: ["automation_not_found"],
    },
    async ({ params, query: { cursor, limit }, principal }) => {
      const { id } = await access.find(principal, params.automationId, "read");
      const rows = await listAlerts(db, id, { limit, after: decodeCursor(cursor) });
      const page = pageOf(rows, limit, (row) => ({ createdAt: row.created_at, id: row.id }));
      return { ...page, items: page.items.map(alertOf) };
    },
  );
}

function addCreateKey(api: Api, { platform: { db, publicUrl }, access }: AutomationHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/automations/{automationId}/webhook-keys",
      summary: "Create a key for the webhook of an automation",
      tag,
      scope: "agents:write",
      params: one,
      body: schema("automations", "CreateWebhookKey"),
      bodyIsOptional: true,
      answer: {
        status: 201,
        schema: schema("automations", "WebhookKeyCreated"),
        description: "The key, which is shown only here",
      },
      problems: ["automation_not_found", "team_admin_required"],
    },
    async ({ params, body: { name = "webhook" }, principal }) => {
      const automation = await access.find(principal, params.automationId, "manage");
      const { id, key } = await createWebhookKey(db, automation.id, name);
      return { id, name, apiKey: key, url: webhookUrl(publicUrl(), automation.id) };
    },
  );
}

function addRemoveKey(api: Api, { platform: { db }, access }: AutomationHost): void {
  api.route(
    {
      method: "delete",
      path: "/v1/automations/{automationId}/webhook-keys/{keyId}",
      summary: "Remove a key of the webhook of an automation",
      tag,
      scope: "agents:write",
      params: () => z.object({ automationId: z.string(), keyId: z.string() }),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["automation_not_found", "webhook_key_not_found", "team_admin_required"],
    },
    async ({ params: { automationId, keyId }, principal }) => {
      const { id } = await access.find(principal, automationId, "manage");
      await removeWebhookKey(db, id, keyId);
      return { id: keyId };
    },
  );
}
