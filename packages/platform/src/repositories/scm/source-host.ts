// The port to the host of a repository: git access, and pull requests and checks if the host supports them.
import type { GitRemote } from "../git/index.ts";
import type { RepositoryHook } from "./hook-deliveries.ts";

export interface SourceHost {
  /**
   * Runs `work` against the repository, after its URL is checked and resolved. Throws RepositoryFault if it cannot or must
   * not be accessed. `work` may run a second time, at the URL that the repository has moved to.
   */
  reach<T>(work: (remote: GitRemote) => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Throws RepositoryFault if the host does not speak git. To be called if a repository looks empty: git reads a web page
   * as a repository without references.
   */
  assertGit(signal: AbortSignal): Promise<void>;
  /**
   * Called after each push: the embedded host does not notice one that wrote directly to its files. It reads commits of which
   * it is not told the message.
   */
  notePush(commit?: PushedCommit): Promise<void>;
  /** The git directory of a repository on the embedded host; it may be read and copied. Null for other hosts. */
  directory: string | null;
  /** Null if the host supports only git itself. */
  pullRequests: PullRequests | null;
  /** Null if the platform cannot show checks on commits there. */
  checks: Checks | null;
  /** Null if the host can be asked nothing but git. */
  inquiries: Inquiries | null;
  /**
   * A token for this repository alone, which a machine of a customer may have; undefined if no agent may access it. Null if
   * the host cannot limit one to a repository. Throws RepositoryFault.
   */
  mintToken: ((rights: TokenRights, signal: AbortSignal) => Promise<string | undefined>) | null;
  /** The webhooks of the repository; null if the host keeps no list of their deliveries. Throws RepositoryFault. */
  hooks: ((signal: AbortSignal) => Promise<RepositoryHook[]>) | null;
}

export interface PushedCommit {
  name: string;
  message: string;
}

/** To read its files, or all that agents do there. */
export type TokenRights = "read" | "write";

/** What an event of the host does not say by itself. Failures are thrown as RepositoryFault. */
export interface Inquiries {
  /** Paths that differ, also former ones of renamed files; null if there are more than the host lists. */
  changedPaths(change: CommitRange | { pullRequest: number }, signal: AbortSignal): Promise<string[] | null>;
  /** Undefined if there is no such pull request. */
  pullRequest(number: number, signal: AbortSignal): Promise<(Branches & { isFork: boolean }) | undefined>;
  /** What an account of the host may do in the repository. */
  permission(login: string, signal: AbortSignal): Promise<RepositoryPermission>;
  /** Who wrote the latest commits of these paths on a branch, most of them first; without programs. */
  recentAuthors(history: History, signal: AbortSignal): Promise<RecentAuthor[]>;
  /** The end of the logs of what has failed; null if the host has none. */
  failedLog(failed: FailedCheck, signal: AbortSignal): Promise<string | null>;
}

export interface CommitRange {
  /** A commit or a branch. */
  before: string;
  after: string;
}

export interface History {
  branch: string;
  paths: string[];
}

export interface RecentAuthor {
  login: string;
  commits: number;
  /** One of those that they changed. */
  path: string;
}

export type RepositoryPermission = "none" | "read" | "push";

/** By its id on the host. */
export type FailedCheck = { workflowRun: number } | { checkSuite: number };

/** Failures are thrown as RepositoryFault; an abort throws the signal's reason. */
export interface PullRequests {
  /** The open pull request from `head` to `base`; never a closed or merged one. */
  find(branches: Branches, signal: AbortSignal): Promise<PullRequest | undefined>;
  /** Undefined if the URL is not one of a pull request of this repository. */
  read(url: string, signal: AbortSignal): Promise<PullRequest | undefined>;
  /**
   * Returns the existing pull request if one is open, regardless of its author: concurrent callers get the same one. If
   * the host does not support drafts, opens one that is ready for review, with `noDraftNote`.
   */
  openDraft(draft: Draft, signal: AbortSignal): Promise<PullRequest>;
  /** Absent fields stay unchanged. */
  update(number: number, change: PullRequestChange, signal: AbortSignal): Promise<PullRequest>;
  comment(number: number, comment: Comment, signal: AbortSignal): Promise<void>;
  review(number: number, review: Review, signal: AbortSignal): Promise<void>;
  /**
   * Takes logins on the host. Reviewers who were already requested, or cannot be requested, are skipped; the others are
   * returned. A host without requests returns all.
   */
  requestReviewers(number: number, reviewers: string[], signal: AbortSignal): Promise<string[]>;
  /** Approvals and requests for changes of this reviewer count no more; how many there were. */
  dismissReviews(number: number, dismissal: Dismissal, signal: AbortSignal): Promise<number>;
}

export interface Branches {
  head: string;
  base: string;
}

export interface Draft extends Branches {
  /** A commit that the head is known to descend from. */
  since?: string | undefined;
  title: string;
  body: string;
  /** Appended to the body if the host does not support drafts. */
  noDraftNote: string;
  /** Shown as author by a host without user accounts. */
  author: string;
  /** The person who opens it; null for the platform itself. */
  opener: PersonalAccess | null;
}

/** A person on a host who allows the platform to act on their behalf. */
export interface PersonalAccess {
  /** Currently valid; may differ at each call. Throws RepositoryFault if the person has revoked access. */
  token(): Promise<string>;
  /** The error to throw if the host rejects the token. */
  disconnected(cause: unknown): Error;
}

export interface PullRequest extends Branches {
  number: number;
  /** The web page of the pull request. */
  url: string;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
}

export type PullRequestChange = Partial<Pick<PullRequest, "title" | "body">>;

/** On the pull request as a whole, or on a line of a file at the head commit. */
export type Comment = { author: string; body: string } & ({ path?: undefined } | { path: string; line: number });

export interface Review {
  author: string;
  verdict: "approved" | "changes_requested" | "commented";
  body: string;
  /** On lines of files at the head commit. */
  comments?: { path: string; line: number; body: string }[];
}

export interface Dismissal {
  reviewer: string;
  /** For the reviewer. */
  message: string;
  author: string;
}

/** Checks that the host shows on commits. */
export interface Checks {
  /**
   * Idempotent per key and commit, also across servers: an existing check is updated, and a completed one is left
   * unchanged. Throws RepositoryFault if a retry may succeed.
   */
  show(check: Check, signal: AbortSignal): Promise<"shown" | "refused">;
}

export interface Check {
  /** Chosen by the platform; identifies the check. */
  key: string;
  commit: string;
  name: string;
  /** A web page with details. */
  url: string;
  startedAt: Date;
  state: CheckState;
}

export type CheckState =
  | { kind: "running" }
  | {
      kind: "ended";
      conclusion: "success" | "failure" | "cancelled" | "neutral";
      endedAt: Date;
      title: string;
      summary: string;
    };
