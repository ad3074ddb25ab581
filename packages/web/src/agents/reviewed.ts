// What a person has reviewed of the changes, as this browser remembers it, and what is new since.
import type { Hunk, PatchFile } from "../text/patch.ts";

export interface Reviewed {
  at: string;
  /** By repository and path: what each part of the diff was. Line numbers do not count: parts move when others change. */
  files: Record<string, string[]>;
}

export interface ChangedFile {
  repoUrl: string;
  file: PatchFile;
}

export const reviewOf = (changed: ChangedFile[], at: string): Reviewed => ({
  at,
  files: Object.fromEntries(changed.map((one) => [nameOf(one), fingerprintsOf(one.file)])),
});

/** The parts of a file that are not as they were reviewed; null where all are. */
export function changedSince({ files }: Reviewed, { repoUrl, file }: ChangedFile): PatchFile | null {
  const known = files[nameOf({ repoUrl, file })];
  // The content of a binary file is not read, so it may be another one.
  if (!known || file.isBinary) return file;
  if (!known.includes(headOf(file))) return file;
  const hunks = file.hunks.filter((hunk) => !known.includes(fingerprintOf(hunk)));
  const count = (kind: string) =>
    hunks.reduce((total, { lines }) => total + lines.filter((line) => line.kind === kind).length, 0);
  return hunks.length === 0 ? null : { ...file, hunks, added: count("add"), removed: count("remove") };
}

/** Paths that were reviewed and are as they were before the agent now. */
export const noLongerChanged = ({ files }: Reviewed, changed: ChangedFile[]): string[] => {
  const names = new Set(changed.map(nameOf));
  return Object.keys(files)
    .filter((name) => !names.has(name))
    .map((name) => name.slice(name.indexOf(separator) + 1));
};

const separator = "\n";

const nameOf = ({ repoUrl, file }: ChangedFile): string => `${repoUrl}${separator}${file.path}`;

const fingerprintsOf = (file: PatchFile): string[] => [headOf(file), ...file.hunks.map(fingerprintOf)];

const headOf = ({ change, from }: PatchFile): string => `${change} ${from ?? ""}`;

const fingerprintOf = ({ lines }: Hunk): string => hashOf(lines.map(({ kind, text }) => `${kind} ${text}`).join("\n"));

/** Short, to be kept in the browser: two sums of different multipliers, and the length. */
function hashOf(text: string): string {
  let [first, second] = [7, 11];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    first = (Math.imul(first, 31) + code) | 0;
    second = (Math.imul(second, 16_777_619) ^ code) | 0;
  }
  return [first, second, text.length].map((part) => (part >>> 0).toString(36)).join("-");
}
