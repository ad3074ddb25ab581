// Where file operations act: the root that relative paths start from, and what may be written.
export interface Place {
  /** Absolute, without symlinks. */
  root: string;
  /** Absolute directories, or no limit of our own; the sandbox around the server has the last word either way. */
  writable: "anywhere" | string[];
}
