// Which files a patch reads and writes, and whether it keeps to the working tree.
import { CommandError } from "@agentcli/command-line";

/** One call of `git apply` on the patch, which changes nothing. */
export type Attempt = (...flags: string[]) => Promise<{ code: number; stdout: Buffer }>;

/** Names byte for byte, as latin1. Null where it is not a patch at all; throws a CommandError where it reaches further. */
export async function touchedPaths(attempt: Attempt): Promise<string[] | null> {
  // Backwards it names what it reads. git holds the names that are written against its rules, not those copied from.
  const both = [await attempt("--numstat", "-z"), await attempt("--numstat", "-z", "--reverse")];
  if (both.some(({ code }) => code !== 0)) return null;
  const paths = new Set(both.flatMap(({ stdout }) => namesIn(stdout.toString("latin1"))));
  const strange = [...paths].find((path) => !staysInside(path));
  if (strange === undefined) return [...paths];
  throw new CommandError(
    "failed",
    `The changes write outside the working tree, to ${JSON.stringify(strange)}, so nothing was changed. Inspect them with: agentcli cloud diff.`,
  );
}

const namesIn = (numstat: string): string[] =>
  numstat
    .split("\0")
    .filter(Boolean)
    .map((line) => line.split("\t").slice(2).join("\t"));

const staysInside = (path: string): boolean =>
  !path.startsWith("/") && path.split("/").every((part) => part !== ".." && !/^(?:\.git|git~1)[ .]*$/i.test(part));
