// A directory per agent, with its repositories at the commit it starts from.
import type { AgentRepository } from "../db/index.ts";

export interface Workspaces {
  /**
   * Makes what is not there yet; a directory that is there stays as the agent left it. May be called again after a
   * crash at any point. Throws RepositoryFault.
   */
  open(agent: AgentWork, signal: AbortSignal): Promise<OpenWorkspace>;
  /** As it was opened; undefined where it never was. */
  find(agentId: string): Promise<OpenWorkspace | undefined>;
  remove(agentId: string): Promise<void>;
}

export interface AgentWork {
  /** `bc-<uuid>` */
  agentId: string;
  teamId: number;
  /** What a person calls it; branches are named after it. */
  name: string;
  repos: AgentRepository[];
  workOnCurrentBranch: boolean;
  /** Of the branch it makes; absent: after its name. */
  branchName?: string | undefined;
}

export interface OpenWorkspace {
  /** Where the agent works: the repository where it has one, else the directory that holds all of them. */
  root: string;
  repositories: OpenRepository[];
}

export interface OpenRepository {
  /** Its directory, and the name of that within the agent's. */
  path: string;
  name: string;
  /** As it was asked for. */
  url: string;
  /** What the agent is on and what is pushed. */
  branch: string;
  /** Whether the branch was made for the agent; others may work on one that was not. */
  isOwnBranch: boolean;
  /** What a pull request would go to. */
  baseBranch: string;
  baseCommit: string;
  /** Git's own files of the host for this repository: objects, index and configuration that no agent can write. */
  hostDirectory: string;
}
