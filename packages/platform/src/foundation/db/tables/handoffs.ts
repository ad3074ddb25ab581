// Where the work of agents goes.
import type { Generated } from "kysely";
import type { Stamped } from "./columns.ts";

export type HandoffState = "waiting" | "committed" | "pushed" | "opened" | "done" | "failed";

/** One per agent and repository: follow-up runs go on with the same branch and pull request. */
export interface HandoffTable {
  agent_id: string;
  /** Without scheme: `github.com/o/r`. */
  repo_url: string;
  run_id: string;
  state: HandoffState;
  branch: string;
  base_branch: string;
  base_commit: string;
  /** Has all that the agent left; null where that is nothing. */
  head_commit: string | null;
  /** Between `base_commit` and `head_commit`, without binary files; null where nothing is committed. */
  lines_added: number | null;
  lines_removed: number | null;
  /** What the branch was pushed at last. */
  pushed_commit: string | null;
  pr_url: string | null;
  /** The one that reviewers were asked for. */
  announced_pr_url: string | null;
  /** Names of files that were held back, sealed; null if there are none. */
  held_back: Buffer | null;
  /** SHA-256 of the pull request's text as the platform wrote it last. */
  body_digest: string | null;
  updated_at: Stamped;
}

/** What the commit of a run is to show on its source host. */
export interface HandoffCheckTable {
  run_id: string;
  /** As in handoffs. */
  repo_url: string;
  commit_name: string;
  /** `shown`: it says that the run goes on. `ended`: there is nothing left to say. */
  state: "wanted" | "shown" | "ended";
  attempts: Generated<number>;
  due_at: Stamped;
}
