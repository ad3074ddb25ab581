// Workspaces of agents.
export { branchName } from "./branch-name.ts";
export {
  type CommitFile,
  type CommitFiles,
  type CommitReader,
  hasStartingFile,
  listStartingFiles,
  openCommitReader,
  readStartingFile,
} from "./commit-files.ts";
export { defaultLimits, type RepositoryLimits } from "./limits.ts";
export { type Locks, openLocks } from "./lock.ts";
export { directoryNames, openWorkspaces, type PushedWork, type WorkspacesOptions } from "./open.ts";
export { type FileRetention, mirrorRetention, unfinishedRetention } from "./retention.ts";
export { openSource, type SourceOptions } from "./source.ts";
export type { AgentDirectories, AgentWork, OpenRepository, OpenWorkspace, Workspaces } from "./workspaces.ts";
