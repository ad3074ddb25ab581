// Port: whether a user may read a repository. Implemented by the repositories group.

export interface RepositoryReading {
  /** Whether reading requires a connected account of the user; if not, the whole team may read it. */
  needsAccount(url: string): boolean;
  /** For a repository that needs an account. */
  judge(userId: number, url: string): Promise<Reading>;
}

export type Reading =
  | { kind: "granted" }
  | { kind: "not connected"; host: string }
  | { kind: "denied"; host: string; login: string }
  | { kind: "unknown"; host: string; reason: string };
