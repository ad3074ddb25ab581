// Notifications about runs: webhooks of other systems, and browsers of people.
import type { ServerContext, Subject } from "../foundation/index.ts";
import { addPushRoutes, startPushes } from "./push/index.ts";
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
    routes: (api) => addPushRoutes(api, context),
    activities: [
      { role: "scheduler", start: () => startDeliveries(context, host) },
      { role: "scheduler", start: () => startPushes(context) },
    ],
  };
}
