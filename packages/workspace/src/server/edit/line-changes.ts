// The lines of a file that an edit changed, by their numbers in the file as it is afterwards.

/** Lines `from` to `to`, counted from 1, are new. With `to` before `from`, lines were only removed there. */
export interface LineChange {
  from: number;
  to: number;
  removed: number;
  /** Where the replaced lines ended before the edit, and how many lines the file grew by there. */
  oldEnd: number;
  growth: number;
}

export interface ReplacedLines {
  from: number;
  to: number;
  lines: unknown[];
  /** Which of `lines` are new. */
  added: number[];
  /** Before which of `lines` the first old line was removed. */
  gap: number;
}

/** For replacements in the order of the file. */
export function lineChanges(replacements: ReplacedLines[]): LineChange[] {
  let shift = 0;
  return replacements.map(({ from, to, lines, added, gap }) => {
    const growth = lines.length - (to - from);
    const first = from + shift + (added[0] ?? gap) + 1;
    const last = from + shift + (added.at(-1) ?? -1) + 1;
    shift += growth;
    return { from: first, to: added.length > 0 ? last : first - 1, removed: added.length - growth, oldEnd: to, growth };
  });
}

/** The one stretch of lines in which two texts differ. */
export function differingLines(before: string[], after: string[]): LineChange[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [removed, added] = [before.length - head - tail, after.length - head - tail];
  return [{ from: head + 1, to: head + added, removed, oldEnd: head + removed, growth: added - removed }];
}

/** Changes of an earlier edit of the same file, by their numbers after a later one. */
export const shiftChanges = (earlier: LineChange[], later: LineChange[]): LineChange[] =>
  earlier.map((change) => {
    const growth = later.filter(({ oldEnd }) => oldEnd < change.from).reduce((sum, each) => sum + each.growth, 0);
    return { ...change, from: change.from + growth, to: change.to + growth };
  });
