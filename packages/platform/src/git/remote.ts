// How git reaches a repository: an address, and what it must be told so that it reaches nothing else.

export interface GitRemote {
  /** A URL without credentials, or a directory of ours. */
  address: string;
  /** The only one git may speak. */
  protocol: "file" | "http" | "https" | "ssh" | "git";
  /** Settings of git for this one call, such as the addresses that the name leads to. */
  config: [key: string, value: string][];
  variables: Record<string, string>;
}
