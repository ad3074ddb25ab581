// The port to whoever keeps a repository: where git reaches it, and its pull requests where it has any.
import type { GitRemote } from "../git/index.ts";

export interface SourceHost {
  /**
   * Does something with the repository, whose address is checked and resolved just now. Where it cannot or must not be
   * reached: RepositoryFault. The work may be done once more, at the place a repository has moved to.
   */
  reach<T>(work: (remote: GitRemote) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Called after each push: a host that was passed by on the way to its files did not notice it. */
  notePush(): Promise<void>;
  /** Git's directory of the repository where it is ours: it may be read and copied. Null where it is elsewhere. */
  directory: string | null;
  /** Null: branches can be pushed, and nothing more is known of the host. */
  pullRequests: PullRequests | null;
  /** Null where it shows none of ours beside commits. */
  checks: Checks | null;
}

/** Faults are thrown as RepositoryFault; where the signal says so, its reason. */
export interface PullRequests {
  /** The open one from this branch to that; never one that was closed or merged. */
  find(branches: Branches, signal: AbortSignal): Promise<PullRequest | undefined>;
  /** Undefined where the address is not of a pull request of this repository. */
  read(url: string, signal: AbortSignal): Promise<PullRequest | undefined>;
  /**
   * Where one is open already, that one, whoever opened it: two callers at once get the same. A host that takes no drafts
   * gets one that is ready, with the note for it.
   */
  openDraft(draft: Draft, signal: AbortSignal): Promise<PullRequest>;
  /** Leaves out what is absent. */
  update(number: number, change: PullRequestChange, signal: AbortSignal): Promise<PullRequest>;
  comment(number: number, comment: Comment, signal: AbortSignal): Promise<void>;
  review(number: number, review: Review, signal: AbortSignal): Promise<void>;
  /** Names of the host. Those who are asked already are not asked twice, and those who cannot be are left out. */
  requestReviewers(number: number, reviewers: string[], signal: AbortSignal): Promise<void>;
}

export interface Branches {
  head: string;
  base: string;
}

export interface Draft extends Branches {
  title: string;
  body: string;
  /** Goes below the body where the host takes no drafts. */
  noDraftNote: string;
  /** As a host shows it that has no accounts of its own. */
  author: string;
  /** In whose name it is opened; null: the platform's. */
  opener: PersonalAccess | null;
}

/** A person on a host, who lets the platform act in their name. */
export interface PersonalAccess {
  /** Good for now; may be another one at every call. Throws RepositoryFault where they do so no longer. */
  token(): Promise<string>;
  /** What to throw where the host does not know the token any more. */
  disconnected(cause: unknown): Error;
}

export interface PullRequest extends Branches {
  number: number;
  /** Where a person reads it. */
  url: string;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
}

export type PullRequestChange = Partial<Pick<PullRequest, "title" | "body">>;

/** On the whole, or on a line of a file as it is in the head. */
export type Comment = { author: string; body: string } & ({ path?: undefined } | { path: string; line: number });

export interface Review {
  author: string;
  verdict: "approved" | "changes_requested" | "commented";
  body: string;
  /** On lines of files as they are in the head. */
  comments?: { path: string; line: number; body: string }[];
}

/** What the host shows beside commits about the work on them. */
export interface Checks {
  /**
   * One check per key and commit, however often and from wherever it is called: an earlier one is brought up to date, and
   * one that has ended stays as it is. Throws RepositoryFault where it may work later.
   */
  show(check: Check, signal: AbortSignal): Promise<"shown" | "refused">;
}

export interface Check {
  /** Ours, the same for the same check. */
  key: string;
  commit: string;
  name: string;
  /** Where a person reads more. */
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
