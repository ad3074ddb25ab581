// How much of a change a review covered, and the sentence about it.
export interface Coverage {
  files: number;
  changedLines: number;
  readLines: number;
  partly: PartlyRead[];
  /** As displayed: binary files are marked. */
  notRead: string[];
}

export interface PartlyRead {
  path: string;
  readLines: number;
  ofLines: number;
}

/** Null if nothing was left out. */
export function coverageSentence(coverage: Coverage, maxNames: number): string | null {
  const { files, partly, notRead } = coverage;
  if (partly.length + notRead.length === 0) return null;
  const read = files - notRead.length;
  const left = [
    ["partly reviewed", names(partly.map(partlyName), maxNames)],
    ["not reviewed", names(notRead, maxNames)],
  ].flatMap(([label, list]) => (list ? [`; ${label}: ${list}`] : []));
  return `Coverage: ${read} of ${files} files, ${percent(coverage)} % of changed lines${left.join("")}`;
}

const partlyName = ({ path, readLines, ofLines }: PartlyRead): string => `${path} (${readLines} of ${ofLines} lines)`;

/** Rounded down: 100 % means every line. */
const percent = ({ readLines, changedLines }: Coverage): number =>
  changedLines === 0 ? 100 : Math.floor((readLines / changedLines) * 100);

function names(all: string[], max: number): string {
  const more = all.length > max ? ` and ${all.length - max} more` : "";
  return all.slice(0, max).join(", ") + more;
}
