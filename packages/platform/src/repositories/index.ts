// The public interface of repositories for other parts of the platform.

export { addAccountCallback, connectPath, openAccountConnector } from "./accounts/index.ts";
export type { OfferedRepositories } from "./credentials/index.ts";
export { RepositoryFault } from "./git/index.ts";
export {
  type CommentRecord,
  type GitHost,
  type HostEvent,
  type HostedRepository,
  mergeAs,
  type PullRequestRecord,
  type ReviewRecord,
  readDiff,
  readPullRequestLinks,
} from "./githost/index.ts";
export {
  branchesOf,
  capPatch,
  commitsAfter,
  type Diffs,
  type HandedOff,
  type HandedOffBranch,
  type Handoff,
  type ReopenedHandoff,
  type RepositoryChange,
  type RunReport,
  type RunSummary,
  reopenHandoffs,
  type VerifiedCommand,
} from "./handoff/index.ts";
export { openRepositories, type Repositories } from "./open.ts";
export {
  type Branches,
  type CommitRange,
  type FailedCheck,
  GithubRefusal,
  type HookDeliveries,
  type HookDelivery,
  type Inquiries,
  isReference,
  type PullRequest,
  type PullRequests,
  type RepositoryHook,
  type RepositoryPermission,
  readRepositoryUrl,
  repositoryOfPullRequest,
} from "./scm/index.ts";
export {
  type AgentWork,
  branchName,
  type CommitFile,
  type CommitFiles,
  type CommitReader,
  hasStartingFile,
  listStartingFiles,
  type OpenWorkspace,
  readStartingFile,
  type Workspaces,
} from "./workspaces/index.ts";
