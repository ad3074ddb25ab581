// Whether the mounts of a sandbox are where they were meant to be.
import { lstatSync, readFileSync } from "node:fs";

export interface ExpectedMount {
  path: string;
  /** Device and inode. */
  identity: string;
}

/** What the server writes to standard error, followed by a path. */
export const misplacedMount = "misplaced mount: ";

/** The path of the first mount that is not there, or leads to something else. A mount point itself cannot be replaced. */
export function findMisplacedMount(expected: ExpectedMount[]): string | null {
  const points = expected.length === 0 ? [] : mountPoints();
  for (const { path, identity } of expected) {
    const needed = expected.filter((mount) => mount.path === path).length;
    if (points.filter((point) => point === path).length < needed || identityAt(path) !== identity) return path;
  }
  return null;
}

const mountPoints = (): string[] =>
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""));

/** The kernel escapes blanks, line ends and backslashes in octal. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

function identityAt(path: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
