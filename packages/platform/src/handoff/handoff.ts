// What a run has left becomes a commit, a pushed branch and a draft pull request.
import type { RepositoryFaultCode } from "../git/index.ts";

export interface Handoff {
  /**
   * Safe to call again after a crash at any point: one commit, one push, one pull request. What the host of a
   * repository refuses is in the answer; everything up to there is kept and a later call goes on from it.
   */
  finish(runId: string, signal: AbortSignal): Promise<HandedOff>;
}

export interface HandedOff {
  branches: HandedOffBranch[];
  faults: HandoffFault[];
}

/** As the API has it under `git.branches`: without a branch where nothing was changed. */
export interface HandedOffBranch {
  /** Without scheme: `github.com/o/r`. */
  repoUrl: string;
  branch?: string;
  prUrl?: string;
}

export interface HandoffFault {
  repoUrl: string;
  code: RepositoryFaultCode;
  message: string;
}

/** What hand-off must know of a run; whoever keeps runs reads it from sealed records. */
export interface RunStory {
  agentId: string;
  teamId: number;
  /** The agent's. */
  name: string;
  /** Final texts of the agent's finished runs up to this one, oldest first. */
  results: string[];
  /** When this run ended: the time of its commit, the same at every call. */
  endedAt: Date;
  autoCreatePR: boolean;
  /** In its own name; else in that of the person it worked for, where there is one. */
  opensAsApp: boolean;
  /** Of the person it worked for, once a pull request was opened. */
  asksForReview: boolean;
  /** The person it worked for; null for a service account. */
  onBehalfOf: { name: string; email: string } | null;
}
