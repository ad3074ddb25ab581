// What is wrong with an environment.json, or with a Dockerfile that it names.
export interface EnvironmentProblem {
  file: string;
  /** From 1. */
  line: number;
  column: number;
  /** As in `terminals[0].name`; empty for the document as a whole. */
  member: string;
  reason: string;
}

/** As compilers print it: `.platform/environment.json:3:5: build.dockerfile: …` */
export const describeProblem = ({ file, line, column, member, reason }: EnvironmentProblem): string =>
  `${file}:${line}:${column}: ${member === "" ? "" : `${member}: `}${reason}`;
