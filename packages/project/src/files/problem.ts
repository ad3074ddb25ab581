// A file of the project that is not as it should be; the run goes on without it, or with what can be used of it.
export interface FileProblem {
  path: string;
  /** Counted from 1; null where it is about the file as a whole. */
  line: number | null;
  /** A warning is worth mending; an error means that something does not work as written. */
  severity: "error" | "warning";
  message: string;
}

export const describeProblem = ({ path, line, message }: FileProblem): string =>
  `${path}${line === null ? "" : `:${line}`}: ${message}`;
