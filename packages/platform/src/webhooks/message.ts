// What a receiver is told about the end of a run, and the headers that say whose message it is.
import { createHmac } from "node:crypto";
import type { RunStatusChange } from "@agentcli/protocol/api";
import type { RunStatus, WebhookVersion } from "../db/index.ts";

export interface EndedRun {
  version: WebhookVersion;
  agentId: string;
  runId: string;
  status: RunStatus;
  endedAt: Date;
  repository: { url: string; ref?: string | undefined } | undefined;
  agentUrl: string;
  branchName: string | undefined;
  prUrl: string | undefined;
  /** The final message, or why there is none. */
  summary: string | undefined;
}

export const eventOf = (version: WebhookVersion): RunStatusChange["event"] =>
  version === "v0" ? "statusChange" : "run.statusChange";

/** A receiver that wants all of it asks for the run. */
const longestSummary = 32_000;

/** What is not known is left out. */
export function describeEnd(run: EndedRun): RunStatusChange {
  const { repository, branchName, prUrl, summary } = run;
  return {
    event: eventOf(run.version),
    timestamp: run.endedAt.toISOString(),
    id: run.agentId,
    ...(run.version === "v1" && { agentId: run.agentId, runId: run.runId }),
    status: run.status,
    ...(repository && { source: { repository: repository.url, ...(repository.ref && { ref: repository.ref }) } }),
    target: { url: run.agentUrl, ...(branchName && { branchName }), ...(prUrl && { prUrl }) },
    ...(summary && { summary: shortened(summary) }),
  };
}

/** Half of a character at the cut goes too. */
const shortened = (text: string): string =>
  text.length <= longestSummary ? text : `${text.slice(0, longestSummary).replace(/[\ud800-\udbff]$/, "")}…`;

export interface Signing {
  deliveryId: string;
  version: WebhookVersion;
  secret: string | undefined;
  /** Of this attempt. */
  sentAt: Date;
}

/** The signatures are over the very bytes that are sent; without a secret there are none. */
export function headersOf(body: Buffer, signing: Signing): Record<string, string> {
  const { deliveryId, version, secret } = signing;
  return {
    "content-type": "application/json",
    "user-agent": "Platform-Agent-Webhook/1.0",
    "x-webhook-id": deliveryId,
    "x-webhook-event": eventOf(version),
    ...(secret !== undefined && {
      "x-webhook-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      ...(version === "v1" && standardHeaders(body, secret, signing)),
    }),
  };
}

/** As Standard Webhooks has them: the time is signed too, so that what was overheard cannot be sent again later. */
function standardHeaders(body: Buffer, secret: string, { deliveryId, sentAt }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const hmac = createHmac("sha256", standardKey(secret)).update(`${deliveryId}.${timestamp}.`).update(body);
  return {
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmac.digest("base64")}`,
  };
}

/** A secret in the form of that standard is the base64 of its key; any other is the key itself. */
function standardKey(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
}
