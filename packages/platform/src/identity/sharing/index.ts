// Access of team members to each other's agents.
export type { Reading, RepositoryReading } from "./repository-reading.ts";
export { type AgentAction, relationOf } from "./rule.ts";
export { openSharing, type ReadablePage, type SharedAgent, type Sharing } from "./sharing.ts";
