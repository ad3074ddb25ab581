// How git reaches a repository: an address, and the settings that keep git from reaching anything else.

export interface GitRemote {
  /** A URL without credentials, or a directory of the platform. */
  address: string;
  /** The only protocol git may use. */
  protocol: "file" | "http" | "https" | "ssh" | "git";
  /** Git configuration for this call only, such as pinned addresses of the host name. */
  config: [key: string, value: string][];
  variables: Record<string, string>;
}
