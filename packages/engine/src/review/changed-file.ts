// One file of a change, as much of it as is kept.
export interface ChangedFile {
  /** Its name after the change; for a deleted file its last one. */
  path: string;
  /** Everything before the first hunk, with the names and modes. */
  header: string;
  /** The hunks, or the lines they begin with. */
  body: string;
  /** Nothing was left out of header and body. */
  isComplete: boolean;
  changedLines: number;
  /** Of a binary file and of one that git does not compare for its size there is no text. */
  kind: "text" | "deleted" | "binary" | "oversized";
}
