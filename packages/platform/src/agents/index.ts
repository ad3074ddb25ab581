// Agents and their runs over HTTP.
export { type AgentAccess, openAgentAccess } from "./access.ts";
export { archiveAgent, cancelRun, deleteAgent, unarchiveAgent } from "./archive.ts";
export { type Asking, createAgent, createRun, type NewAgent } from "./create.ts";
export { decodeCursor, encodeCursor } from "./cursor.ts";
export { addDeliveryRoutes } from "./delivery-routes.ts";
export { addDiffRoute } from "./diff-route.ts";
export { findToFollowUp } from "./follow-up.ts";
export { makeOnce, promptLimitBytes } from "./idempotency.ts";
export { checkModel } from "./policy.ts";
export { readAgentPage, readConversation } from "./read.ts";
export { type AgentHost, addAgentRoutes } from "./routes.ts";
export { addRunRoutes } from "./run-routes.ts";
export { findRun } from "./store.ts";
export type { ListedAgent, RunRow } from "./views.ts";
