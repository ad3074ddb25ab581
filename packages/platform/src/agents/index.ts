// What other groups may use of agents.
export { type AgentAccess, openAgentAccess } from "./access.ts";
export { type Agents, openAgents } from "./open.ts";
export type { AgentHost } from "./routes/agents.ts";
export { archiveAgent, cancelRun, unarchiveAgent } from "./routes/archive.ts";
export { wholePatch } from "./routes/diff.ts";
export { touchAgent } from "./store.ts";
export {
  type CreateAgentRequest,
  type CreateRunRequest,
  checkModel,
  type Submission,
  type Submit,
} from "./submit/index.ts";
export { openV0 } from "./v0/index.ts";
export { readAgentPage, readConversation, readLatestModels } from "./views/read.ts";
export type { ListedAgent } from "./views/views.ts";
