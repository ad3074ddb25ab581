// Webhooks: signed notifications about ended runs, with retries.
export { checkReceiver } from "./address.ts";
export { addDeliveryMetrics, attemptDelivery, deliveryTimeoutMs } from "./deliver.ts";
export { startDeliveries } from "./deliveries.ts";
export type { DeliveryHost } from "./host.ts";
export { enqueueDeliveries } from "./outbox.ts";
export { deliveryRetention } from "./retention.ts";
export { type Outcome, send } from "./send.ts";
export { insertWebhook, listDeliveries, type NewWebhook, redeliver } from "./store.ts";
