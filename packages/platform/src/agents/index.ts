// Agents and their runs over HTTP.

export { type AgentHost, addAgentRoutes } from "./routes.ts";
export { addRunRoutes } from "./run-routes.ts";
export { findAgent, findRun } from "./store.ts";
export type { ListedAgent, RunRow } from "./views.ts";
