// The known word that is nearest to an unknown one.

/** At most two edits away, or with the same beginning. */
export function nearest(word: string, known: string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, far: distance(candidate, word) }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  if (best && best.far <= 2 && best.far < word.length) return best.candidate;
  return word.length > 2 ? known.find((candidate) => candidate.startsWith(word)) : undefined;
}

/** Edit distance in which two neighbouring letters in the wrong order are one edit. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const isSwapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swap = i > 1 && j > 1 && isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
