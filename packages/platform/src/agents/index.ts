// Agents and their runs over HTTP.
export { archiveAgent, cancelRun, unarchiveAgent } from "./archive.ts";
export { type Asking, createAgent, createRun } from "./create.ts";
export { addDiffRoute } from "./diff-route.ts";
export { readAgentPage, readConversation } from "./read.ts";
export { type AgentHost, addAgentRoutes } from "./routes.ts";
export { addRunRoutes } from "./run-routes.ts";
export { findAgent, findRun } from "./store.ts";
export type { ListedAgent, RunRow } from "./views.ts";
