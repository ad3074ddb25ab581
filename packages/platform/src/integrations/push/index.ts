// Notifications of browsers about ended runs and draft builds: encrypted for the browser, through the push service that it chose.
export { enqueueDraftPushes, enqueuePushes } from "./outbox.ts";
export { addPushRoutes } from "./routes.ts";
export { startPushes } from "./send-due.ts";
