// `POST /automations/webhook/{uuid}`: starts an automation, with a key of its own and any body.
import type { WebhookAnswer } from "@agentcli/protocol/api";
import type { Context } from "hono";
import { type Api, ApiError, becomeActor, type Env, readBody, teamKey } from "../../foundation/index.ts";
import { openDefinition, type StoredTrigger } from "../definition.ts";
import { mismatchOf } from "../filter.ts";
import { fire } from "../firings/fire.ts";
import type { FiringRow } from "../firings/store.ts";
import type { AutomationHost } from "../host.ts";
import { principalOf } from "../identity.ts";
import type { AutomationRow } from "../store.ts";
import { findByKey } from "../webhook-keys.ts";

const path = "/automations/webhook/:id";
const maxBodyBytes = 256 * 1024;

export function addWebhookRoute(api: Api, host: AutomationHost): void {
  api.app.post(path, async (context) => {
    context.set("route", path);
    const automation = await findByKey(host.platform.db, automationIdIn(context), keyIn(context));
    if (automation === null) {
      api.admission.noteWrongSecret(context);
      return context.json({ code: "error", message: "Invalid API key or missing required scope" }, 401);
    }
    becomeActor(`automation:${automation.id}`);
    const principal = await principalOf(host.platform.db, automation);
    if (principal) api.admission.admit(context, principal);
    else api.admission.admitSender(context, { teamId: automation.team_id, name: `automation:${automation.id}` });
    // Together: a team has as many automations as it likes.
    api.admission.admitBody(context, { name: `automations of ${automation.team_id}` }, maxBodyBytes);
    return receive(context, host, automation);
  });
}

const automationIdIn = (context: Context<Env>): string =>
  `auto-${(context.req.param("id") ?? "").replace(/^auto-/, "")}`;

const keyIn = (context: Context<Env>): string =>
  /^Bearer +(\S+)$/i.exec(context.req.header("authorization")?.trim() ?? "")?.[1] ?? "";

async function receive(context: Context<Env>, host: AutomationHost, automation: AutomationRow): Promise<Response> {
  const refuse = (error: string, status: 400 | 409 | 413 = 400) =>
    context.json({ success: false, error } satisfies WebhookAnswer, status);
  const raw = await readLimited(context);
  if (raw === null) return refuse(`The body has more than ${maxBodyBytes} bytes. Send less, such as an address.`, 413);
  const trigger = await findTrigger(host, automation);
  if (trigger === null) return refuse(`Automation ${automation.id} has no webhook trigger. Add one first.`);
  if (!automation.enabled) return refuse(`Automation ${automation.id} is disabled`);
  const contentType = context.req.header("content-type") ?? null;
  const body = raw.toString("utf8");
  const json = parse(body);
  if (json === undefined && body !== "" && /\bjson\b/i.test(contentType ?? ""))
    return refuse("The body is not valid JSON, which its Content-Type says it is.");
  const skipReason = trigger.filter ? mismatchOf(trigger.filter, json) : null;
  try {
    const firing = await fire(host, automation, {
      source: "webhook",
      triggerId: trigger.id,
      payload: { origin: "webhook", contentType, receivedAt: host.now().toISOString(), body },
      idempotencyKey: context.req.header("idempotency-key") ?? null,
      skipReason,
    });
    return answer(context, host, firing);
  } catch (error) {
    if (error instanceof ApiError && error.status < 429) return refuse(error.message, error.status === 409 ? 409 : 400);
    throw error;
  }
}

/** Null: it is too large. */
const readLimited = (context: Context<Env>): Promise<Buffer | null> =>
  readBody(context.env.incoming, maxBodyBytes).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "payload_too_large") return null;
    throw error;
  });

function answer(context: Context<Env>, { platform }: AutomationHost, firing: FiringRow): Response {
  const { id: firingId, agent_id: agentId, run_id: runId, status, reason } = firing;
  if (runId !== null) {
    const url = `${platform.publicUrl()}/agents/${agentId}`;
    return context.json({ success: true, firingId, agentId, runId, url } satisfies WebhookAnswer);
  }
  if (status === "skipped")
    return context.json({ success: true, firingId, skipped: true, reason: reason ?? "" } satisfies WebhookAnswer);
  if (status === "planned")
    return context.json({ success: true, firingId, queued: true, reason: reason ?? "" } satisfies WebhookAnswer);
  return context.json({ success: false, error: `Failed to start the agent: ${reason}` } satisfies WebhookAnswer, 400);
}

type WebhookTrigger = Extract<StoredTrigger, { type: "webhook" }>;

/** The first one: an automation has one address. */
async function findTrigger({ platform }: AutomationHost, automation: AutomationRow): Promise<WebhookTrigger | null> {
  const key = await teamKey(platform.db, platform.vault, automation.team_id);
  const { triggers } = openDefinition(key, automation);
  return triggers.find((trigger): trigger is WebhookTrigger => trigger.type === "webhook") ?? null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
