// Where file operations act: the root that relative paths start from, and what may be written.
export interface FileScope {
  /** Absolute, without symlinks. */
  root: string;
  /** Absolute directories, or no limit here; the sandbox around the server enforces its own either way. */
  writable: "anywhere" | string[];
  /** Absolute paths that links lead elsewhere are refused. */
  asWritten?: boolean;
}
