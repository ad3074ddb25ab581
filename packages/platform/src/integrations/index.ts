// What other groups may use of the integrations.
export { type Integrations, openIntegrations } from "./open.ts";
export { enqueueDraftPushes, enqueuePushes } from "./push/index.ts";
export { enqueueDeliveries, insertWebhook, listDeliveries, type NewWebhook, redeliver } from "./webhooks/index.ts";
