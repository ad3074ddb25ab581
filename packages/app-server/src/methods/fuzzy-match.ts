// How well a path matches a query: its letters in order, better where they are adjacent and where words begin. Pure.

export interface Match {
  score: number;
  /** Where the letters are in the path. */
  indices: number[];
}

/** Null where it does not fit. Words may come in any order; upper and lower case are alike. */
export function fuzzyMatch(query: string, path: string): Match | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const lower = path.toLowerCase();
  const found = words.map((word) => bestPosition(word, lower, path));
  const positions = found.flatMap((indices) => indices ?? []);
  if (found.includes(null)) return null;
  const indices = [...new Set(positions)].sort((one, other) => one - other);
  return { score: Math.max(1, scoreOf(indices, path)), indices };
}

/** In the name of the file rather than anywhere on the way to it. */
function bestPosition(word: string, lower: string, path: string): number[] | null {
  const name = lower.lastIndexOf("/") + 1;
  const positions = [subsequence(word, lower, name), subsequence(word, lower, 0)].filter(
    (position) => position !== null,
  );
  return positions.sort((one, other) => scoreOf(other, path) - scoreOf(one, path))[0] ?? null;
}

/** The earliest end, then the shortest way back from it. */
function subsequence(word: string, text: string, from: number): number[] | null {
  let at = from - 1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return null;
  }
  const indices: number[] = [];
  for (const letter of [...word].reverse()) {
    at = text.lastIndexOf(letter, at);
    indices.unshift(at);
    at -= 1;
  }
  return indices;
}

const points = { letter: 16, together: 12, wordStart: 10, inName: 6, gap: 1 };
const maxGap = 20;

function scoreOf(indices: number[], path: string): number {
  const name = path.lastIndexOf("/") + 1;
  let score = 0;
  indices.forEach((at, order) => {
    const gap = order === 0 ? 0 : at - (indices[order - 1] ?? at) - 1;
    score += points.letter - Math.min(gap, maxGap) * points.gap;
    if (order > 0 && gap === 0) score += points.together;
    if (isWordStart(path, at)) score += points.wordStart;
    if (at >= name) score += points.inName;
  });
  // Of two equal matches the shorter path wins.
  return score - Math.floor(path.length / 16);
}

const isWordStart = (path: string, at: number): boolean =>
  at === 0 || /[/\\._\- ]/.test(path[at - 1] ?? "") || /^[a-z0-9][A-Z]$/.test(path.slice(at - 1, at + 1));
