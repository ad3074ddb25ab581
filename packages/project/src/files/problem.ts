// A problem with a file of the project; the run continues without it, or with the usable part.
export interface FileProblem {
  path: string;
  /** Counted from 1; null if it is about the file as a whole. */
  line: number | null;
  /** A warning is worth fixing; an error means that something does not work as written. */
  severity: "error" | "warning";
  message: string;
}

export const describeProblem = ({ path, line, message }: FileProblem): string =>
  `${path}${line === null ? "" : `:${line}`}: ${message}`;
