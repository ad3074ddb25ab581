// Where agents work.
export type { AgentWork, OpenRepository, OpenWorkspace, Workspaces } from "./workspaces.ts";
