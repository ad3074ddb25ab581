// How much of a change a review looked at, and the sentence that says so.
export interface Coverage {
  files: number;
  changedLines: number;
  readLines: number;
  partly: PartlyRead[];
  /** Named as people should read them: binary files say that they are. */
  notRead: string[];
}

export interface PartlyRead {
  path: string;
  readLines: number;
  ofLines: number;
}

/** Null where nothing was left out. */
export function coverageSentence(coverage: Coverage, mostNames: number): string | null {
  const { files, partly, notRead } = coverage;
  if (partly.length + notRead.length === 0) return null;
  const read = files - notRead.length;
  const left = [
    ["partly reviewed", names(partly.map(partlyName), mostNames)],
    ["not reviewed", names(notRead, mostNames)],
  ].flatMap(([label, list]) => (list ? [`; ${label}: ${list}`] : []));
  return `Coverage: ${read} of ${files} files, ${percent(coverage)} % of changed lines${left.join("")}`;
}

const partlyName = ({ path, readLines, ofLines }: PartlyRead): string => `${path} (${readLines} of ${ofLines} lines)`;

/** Rounded down: not even one line left out makes 100 %. */
const percent = ({ readLines, changedLines }: Coverage): number =>
  changedLines === 0 ? 100 : Math.floor((readLines / changedLines) * 100);

function names(all: string[], most: number): string {
  const more = all.length > most ? ` and ${all.length - most} more` : "";
  return all.slice(0, most).join(", ") + more;
}
