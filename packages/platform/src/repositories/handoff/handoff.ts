// Turns the work of a run into a commit, a pushed branch and a draft pull request.
import type { Secret } from "@agentcli/engine";
import type { RepositoryFaultCode } from "../git/index.ts";
import type { OpenWorkspace } from "../workspaces/index.ts";
import type { HeldBackFile } from "./held-back.ts";

export interface Handoff {
  /** Keeps what the files are, so that the changes of this run alone can be read. Safe to call again until it changes them. */
  begin(run: StartingRun, signal: AbortSignal): Promise<void>;
  /**
   * Safe to call again after a crash at any point: creates one commit, one push and one pull request. Rejections by the
   * host of a repository are returned as faults; completed steps are kept, and a later call continues after them.
   */
  publish(runId: string, signal: AbortSignal): Promise<HandedOff>;
}

export interface StartingRun {
  agentId: string;
  runId: string;
  workspace: OpenWorkspace;
}

export interface HandedOff {
  branches: HandedOffBranch[];
  faults: HandoffFault[];
}

/** As returned by the API under `git.branches`; without `branch` if nothing changed. */
export interface HandedOffBranch {
  /** Without scheme: `github.com/o/r`. */
  repoUrl: string;
  branch?: string;
  prUrl?: string;
  /** Files of the agent that were not handed off; absent if there are none. */
  heldBack?: HeldBackFile[];
}

export interface HandoffFault {
  repoUrl: string;
  code: RepositoryFaultCode;
  message: string;
}

export interface VerifiedCommand {
  command: string;
  /** Null if it did not end by itself. */
  exitCode: number | null;
}

/** The data of a run that hand-off needs. The runs module reads it from sealed records. */
export interface RunSummary {
  agentId: string;
  teamId: number;
  /** The name of the agent. */
  name: string;
  /** Final texts of the agent's finished runs up to this one, oldest first. */
  results: string[];
  /** Commands of this run that may have verified its work, in order, each with its last result. */
  commands: VerifiedCommand[];
  /** When this run ended: the time of its commit, so it must be the same on every call. */
  endedAt: Date;
  autoCreatePR: boolean;
  /** Opens pull requests as the platform; otherwise as the user the agent worked for, if any. */
  opensAsApp: boolean;
  /** Requests a review from that user once a pull request is opened. */
  asksForReview: boolean;
  /** Must be in no commit that is pushed. */
  secrets: Secret[];
  /** The user the agent worked for; null for a service account. */
  onBehalfOf: { name: string; email: string } | null;
}
