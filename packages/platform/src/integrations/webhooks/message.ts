// The body of a webhook about an ended run, and its headers with signatures.
import { createHmac } from "node:crypto";
import type { RunStatusChange } from "@agentcli/protocol/api";
import type { RunStatus, WebhookVersion } from "../../foundation/index.ts";

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
  /** The final message, or the error. */
  summary: string | undefined;
}

export const eventOf = (version: WebhookVersion): RunStatusChange["event"] =>
  version === "v0" ? "statusChange" : "run.statusChange";

/** The full text is available from the API. */
const maxSummaryLength = 32_000;

/** Unknown members are left out. */
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
    ...(summary && { summary: truncate(summary) }),
  };
}

/** Never splits a surrogate pair. */
const truncate = (text: string): string =>
  text.length <= maxSummaryLength ? text : `${text.slice(0, maxSummaryLength).replace(/[\ud800-\udbff]$/, "")}…`;

export interface SignatureOptions {
  deliveryId: string;
  version: WebhookVersion;
  secret: string | undefined;
  /** Of this attempt. */
  sentAt: Date;
}

/** Signatures cover the exact bytes sent; without a secret there are none. */
export function headersOf(body: Buffer, signing: SignatureOptions): Record<string, string> {
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

/** Standard Webhooks: the timestamp is signed too, which prevents replay. */
function standardHeaders(
  body: Buffer,
  secret: string,
  { deliveryId, sentAt }: SignatureOptions,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const hmac = createHmac("sha256", standardKey(secret)).update(`${deliveryId}.${timestamp}.`).update(body);
  return {
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmac.digest("base64")}`,
  };
}

/** A `whsec_` secret is the base64 of its key, as in the standard; any other is the key itself. */
function standardKey(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
}
