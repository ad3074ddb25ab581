// A directory per agent, with its repositories at the commit it starts from.
import type { AgentFork, AgentRepository } from "../../foundation/index.ts";

export interface Workspaces {
  /**
   * Creates missing directories; an existing one stays as the agent left it. May be called again after a crash at any
   * point. Throws RepositoryFault.
   */
  open(agent: AgentWork, signal: AbortSignal): Promise<OpenWorkspace>;
  /** The workspace as it was opened; undefined if it never was. `directory` is the agent's. */
  find(directory: string): Promise<OpenWorkspace | undefined>;
  /** The directories of agents that there are, in whole or in part. */
  list(): Promise<string[]>;
  /** Where the files of an agent are, whether they exist or not. */
  directories(directory: string): AgentDirectories;
  /** Puts the directories that `fill` writes in place of what there is. */
  replace(agent: AgentWork, fill: (drafts: AgentDirectories) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** Takes the workspace away at once, and returns what removes it from the disk. */
  setAside(directory: string): Promise<() => Promise<void>>;
  remove(directory: string): Promise<void>;
}

export interface AgentDirectories {
  workspace: string;
  /** The host's git directories for the agent's repositories, not accessible to the agent. */
  host: string;
}

export interface AgentWork {
  /** `bc-<uuid>` */
  agentId: string;
  /** Name of its directories, in the form of an id. */
  directory: string;
  teamId: number;
  /** Display name; branches are named after it. */
  name: string;
  repos: AgentRepository[];
  workOnCurrentBranch: boolean;
  /** Name of the branch to create; derived from the agent's name if absent. */
  branchName?: string | undefined;
  fork?: Pick<AgentFork, "starts"> | undefined;
}

export interface OpenWorkspace {
  /** The agent's working directory: its repository if it has exactly one, otherwise the parent directory of all of them. */
  root: string;
  repositories: OpenRepository[];
}

export interface OpenRepository {
  /** Its directory, and the name of that directory in the workspace. */
  path: string;
  name: string;
  /** The URL as requested. */
  url: string;
  /** The branch the agent works on, which is pushed. */
  branch: string;
  /** Whether the branch was created for the agent. Other users may work on any other branch. */
  isOwnBranch: boolean;
  /** The target branch of a pull request. */
  baseBranch: string;
  baseCommit: string;
  /** The top directory of that commit; absent where an earlier version made the repository. */
  baseTree?: string | undefined;
  /** The host's git directory for this repository: objects, index and configuration that no agent can write. */
  hostDirectory: string;
}
