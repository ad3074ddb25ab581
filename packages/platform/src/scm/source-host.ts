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
}

/** Faults are thrown as RepositoryFault. */
export interface PullRequests {
  /** The open one from this branch to that; never one that was closed or merged. */
  find(branches: Branches): Promise<PullRequest | undefined>;
  /** Undefined where the address is not of a pull request of this repository. */
  read(url: string): Promise<PullRequest | undefined>;
  /** Where one is open already, that one: two callers at once get the same. */
  openDraft(draft: Draft): Promise<PullRequest>;
  /** Leaves out what is absent. */
  update(number: number, change: Partial<Pick<Draft, "title" | "body">>): Promise<PullRequest>;
  comment(number: number, comment: Comment): Promise<void>;
  review(number: number, review: Review): Promise<void>;
  /** Names of the host. Those who are asked already are not asked twice, and those who cannot be are left out. */
  requestReviewers(number: number, reviewers: string[]): Promise<void>;
}

export interface Branches {
  head: string;
  base: string;
}

export interface Draft extends Branches {
  title: string;
  body: string;
  /** As the host shows it. */
  author: string;
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

/** On the whole, or on a line of a file as it is in the head. */
export type Comment = { author: string; body: string } & ({ path?: undefined } | { path: string; line: number });

export interface Review {
  author: string;
  verdict: "approved" | "changes_requested" | "commented";
  body: string;
  /** On lines of files as they are in the head. */
  comments?: { path: string; line: number; body: string }[];
}
