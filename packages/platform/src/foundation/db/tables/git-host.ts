// The platform's own git host.
import type { ColumnType, Generated } from "kysely";
import type { Perhaps, Sealed, Stamped } from "./columns.ts";

export interface HostedRepositoryTable {
  id: Generated<number>;
  team_id: number;
  name: string;
  default_branch: string;
  /** Commits by branch, as events were last recorded for; null in repositories from before there were events. */
  tips: ColumnType<Record<string, string> | null, string | undefined, string>;
  created_at: Stamped;
}

/** What the object store has of a repository; absent where there is no object store. */
export interface HostedRepositorySaveTable {
  repository_id: number;
  /** Counts the changes. */
  version: number;
  /** The content of HEAD. */
  head: string;
  /** Objects by full reference name. */
  refs: ColumnType<Record<string, string>, string, string>;
  packs: string[];
}

export interface PullRequestTable {
  repository_id: number;
  number: number;
  title: Sealed;
  body: Sealed;
  head_branch: string;
  base_branch: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  author: string;
  created_at: Stamped;
  updated_at: Stamped;
}

export interface PullRequestCommentTable {
  id: Generated<number>;
  repository_id: number;
  pull_request: number;
  author: string;
  body: Sealed;
  path: string | null;
  line: number | null;
  created_at: Stamped;
}

export interface PullRequestReviewTable {
  id: Generated<number>;
  repository_id: number;
  pull_request: number;
  author: string;
  /** `dismissed`: it was one of the first two, and counts no more. */
  verdict: "approved" | "changes_requested" | "commented" | "dismissed";
  body: Sealed;
  created_at: Stamped;
}

export interface PullRequestLabelTable {
  repository_id: number;
  pull_request: number;
  name: string;
  author: string;
  created_at: Stamped;
}

/** The latest of each context, such as a CI system. */
export interface CommitStatusTable {
  repository_id: number;
  commit: string;
  context: string;
  state: "pending" | "success" | "failure" | "error";
  description: Sealed;
  target_url: Perhaps<string>;
  author: string;
  created_at: Stamped;
}
