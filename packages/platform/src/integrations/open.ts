// Notifications of other systems about runs: webhooks today.
import type { ServerContext, Subject } from "../foundation/index.ts";
import {
  addDeliveryMetrics,
  checkReceiver,
  deliveryRetention,
  deliveryTimeoutMs,
  startDeliveries,
} from "./webhooks/index.ts";

export interface Integrations extends Subject {
  /** Throws ApiError if no webhook may be sent to the address. */
  checkReceiver(url: string): Promise<void>;
}

export function openIntegrations(context: ServerContext): Integrations {
  const { db, settings, network, metrics, publicUrl } = context;
  if (settings.roles.includes("scheduler")) addDeliveryMetrics(metrics);
  const host = { platform: context, policy: network, publicUrl, now: () => new Date(), timeoutMs: deliveryTimeoutMs };
  return {
    checkReceiver: (url) => checkReceiver(url, network),
    retention: [deliveryRetention(db, settings.retention.deliveryDays)],
    activities: [{ role: "scheduler", start: () => startDeliveries(context, host) }],
  };
}
