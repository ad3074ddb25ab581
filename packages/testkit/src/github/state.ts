// What the pretended GitHub remembers.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface GithubState {
  url: string;
  appId: string;
  /** PEM, of the app. */
  publicKey: string;
  repositories: FakeRepository[];
  grants: Grant[];
  asked: Asked[];
  /** Requests and answers of ours that the official description does not allow. */
  complaints: string[];
  surprises: Surprise[];
  tokenLifeMs: number;
  /** Who sits before the browser. */
  person: string;
  /** Codes and tokens that stand for a token to come, each good for one time. */
  codes: Map<string, Code>;
  /** Former full names of repositories, with the present ones. */
  moves: Map<string, string>;
  /** What the app was installed with. */
  appPermissions: Record<string, string>;
}

export interface Code {
  login: string;
  /** The token that ends with its use. */
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
  takesDrafts: boolean;
  pulls: FakePull[];
  checks: FakeCheck[];
  git(...args: string[]): Promise<string>;
  /** What it was called before leads to it. */
  rename(fullName: string): Promise<void>;
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
  /** From a repository of somebody else. */
  isFork: boolean;
  author: string;
  reviewers: string[];
  /** Each request for reviews, with those it named. */
  requests: string[][];
  comments: { body: string; path?: string; line?: number; commit?: string }[];
  reviews: { event: string; body: string; author: string; comments: unknown[] }[];
}

/** A token with what it is good for. */
export interface Grant {
  token: string;
  expiresAt: number;
  isRevoked: boolean;
  /** Whom it speaks for, as pull requests show it. */
  login: string;
  /** An app by itself; else a person, who may push only where they collaborate. */
  kind: "app" | "person";
  /** Names without owner; null: all. */
  repositories: string[] | null;
  permissions: Record<string, string>;
}

export interface Asked {
  operation: string;
  path: string;
  status: number;
  body: unknown;
}

/** What the next request of an operation gets in place of its answer. */
export interface Surprise {
  operation: string;
  answer: { status: number; body: object; headers?: Record<string, string> } | "carry out, then hang up";
}

/** Carries an answer other than the usual one. */
export class Refusal extends Error {
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
