// Tells programs elsewhere how runs ended.
export { checkReceiver } from "./address.ts";
export { attemptDelivery, type DeliveryHost, deliveryLimitMs } from "./deliver.ts";
export { startDeliveries } from "./deliveries.ts";
export { outboxRow } from "./outbox.ts";
export { insertWebhook, listDeliveries, type NewWebhook, redeliver } from "./store.ts";
