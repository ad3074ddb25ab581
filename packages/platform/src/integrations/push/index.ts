// Notifications of browsers about ended runs: encrypted for the browser, through the push service that it chose.
export { enqueuePushes } from "./outbox.ts";
export { addPushRoutes } from "./routes.ts";
export { startPushes } from "./send-due.ts";
