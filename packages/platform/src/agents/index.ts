// What other groups may use of agents.
export { type AgentAccess, openAgentAccess } from "./access.ts";
export { type Agents, openAgents } from "./open.ts";
export { describeAgents, type OverviewHost, readDetails } from "./overview/index.ts";
export type { AgentHost } from "./routes/agents.ts";
export { cancelRun } from "./routes/archive.ts";
export { touchAgent } from "./store.ts";
export {
  type CreateAgentRequest,
  type CreateRunRequest,
  checkModel,
  type Submission,
  type Submit,
} from "./submit/index.ts";
export { openV0 } from "./v0/index.ts";
export type { ListedAgent } from "./views/views.ts";
