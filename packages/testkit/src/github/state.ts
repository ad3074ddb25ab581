// State of the fake GitHub.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface GithubState {
  url: string;
  appId: string;
  /** PEM, of the app. */
  publicKey: string;
  repositories: FakeRepository[];
  grants: Grant[];
  accounts: FakeAccount[];
  /** Oldest first. */
  deliveries: FakeDelivery[];
  requests: LoggedOperation[];
  /** Requests, and responses of the fake, that the official description does not allow. */
  violations: string[];
  plannedResponses: PlannedResponse[];
  tokenLifeMs: number;
  /** Signed in to the browser. */
  user: string;
  /** Authorization codes and refresh tokens, each valid once. */
  codes: Map<string, Code>;
  /** Former full name of a repository to its current one. */
  renames: Map<string, string>;
  /** Permissions of the installed app. */
  appPermissions: Record<string, string>;
}

export interface FakeAccount {
  login: string;
  type: "User" | "Bot" | "Organization";
  /** By full name of a repository. */
  permissions: Record<string, "admin" | "write" | "read" | "none">;
}

export interface Code {
  login: string;
  /** The token that its use revokes. */
  renews: Grant | null;
}

export interface FakeRepository {
  id: number;
  owner: string;
  name: string;
  directory: string;
  collaborators: string[];
  /** Whether the app is installed for it, and may be used. */
  isInstalled: boolean;
  isSuspended: boolean;
  allowsDrafts: boolean;
  pulls: FakePull[];
  checks: FakeCheck[];
  /** Of workflows, and of other apps. */
  jobs: FakeJob[];
  hooks: FakeHook[];
  git(...args: string[]): Promise<string>;
  /** The former name redirects to the new one. */
  rename(fullName: string): Promise<void>;
}

export interface FakeJob {
  id: number;
  /** The workflow run, or the check suite. */
  run: number;
  name: string;
  conclusion: string;
  /** `github-actions` has a log, others a summary. */
  app: string;
  log: string;
  summary: string;
}

/** A webhook of the repository. */
export interface FakeHook {
  id: number;
  url: string;
  isActive: boolean;
  /** Oldest first. */
  deliveries: FakeDelivery[];
}

/** A delivery of a webhook, which may have failed. */
export interface FakeDelivery {
  id: number;
  guid: string;
  delivered_at: string;
  event: string;
  status: string;
  status_code: number;
  redelivery: boolean;
  /** That it was sent to. */
  url: string;
  payload: object;
}

export interface FakeCheck {
  id: number;
  app: string;
  head_sha: string;
  name: string;
  external_id: string;
  details_url: string;
  status: string;
  conclusion: string | null;
  output: { title: string | null; summary: string | null };
}

export interface FakePull {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  state: "open" | "closed";
  isMerged: boolean;
  isDraft: boolean;
  /** From a repository of another owner. */
  isFork: boolean;
  author: string;
  reviewers: string[];
  /** Logins of each request for reviews. */
  requests: string[][];
  comments: { body: string; path?: string; line?: number; commit?: string }[];
  reviews: { event: string; body: string; author: string; comments: unknown[] }[];
}

/** A token with its permissions. */
export interface Grant {
  token: string;
  expiresAt: number;
  isRevoked: boolean;
  /** Author that pull requests show. */
  login: string;
  /** The app itself, or a user, who may push only where they collaborate. */
  /** Of an app. */
  installation?: number;
  kind: "app" | "person";
  /** Names without owner; null: all. */
  repositories: string[] | null;
  permissions: Record<string, string>;
}

export interface LoggedOperation {
  operation: string;
  path: string;
  status: number;
  body: unknown;
}

/** Replaces the response to the next request of an operation. */
export interface PlannedResponse {
  operation: string;
  response: { status: number; body: object; headers?: Record<string, string> } | "execute, then disconnect";
}

/** An error response. */
export class GithubError extends Error {
  readonly status: number;
  readonly errors: object[];

  constructor(status: number, message: string, errors: object[] = []) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

const run = promisify(execFile);

export const gitIn =
  (directory: string) =>
  async (...args: string[]): Promise<string> =>
    (await run("git", ["-C", directory, ...args])).stdout.trim();

/** Undefined where there is no such branch. */
export const tipOf = (repository: FakeRepository, branch: string): Promise<string | undefined> =>
  repository.git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`).catch(() => undefined);
