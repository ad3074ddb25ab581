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

const shortened = (text: string): string =>
  text.length <= longestSummary ? text : `${text.slice(0, longestSummary)}…`;

export interface Signing {
  deliveryId: string;
  version: WebhookVersion;
  secret: string | undefined;
}

/** The signature is over the very bytes that are sent; without a secret there is none. */
export function headersOf(body: Buffer, { deliveryId, version, secret }: Signing): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": "Platform-Agent-Webhook/1.0",
    "x-webhook-id": deliveryId,
    "x-webhook-event": eventOf(version),
    ...(secret !== undefined && {
      "x-webhook-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    }),
  };
}
