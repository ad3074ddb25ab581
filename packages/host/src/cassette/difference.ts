// The first difference between two values of the same shape, as a person would point to it.

export interface Difference {
  /** Such as `tools[2].description`. */
  field: string;
  recorded: unknown;
  now: unknown;
}

/** Null if both are equal as JSON. */
export function firstDifference(recorded: unknown, now: unknown, field = ""): Difference | null {
  if (JSON.stringify(recorded) === JSON.stringify(now)) return null;
  if (!isContainer(recorded) || !isContainer(now) || Array.isArray(recorded) !== Array.isArray(now))
    return { field, recorded, now };
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
  for (const name of names) {
    const path = Array.isArray(recorded) ? `${field}[${name}]` : field === "" ? name : `${field}.${name}`;
    const difference = firstDifference(member(recorded, name), member(now, name), path);
    if (difference) return difference;
  }
  // The same members in another order.
  return { field, recorded: names, now: Object.keys(now) };
}

/** One line: the field, and where its two values part. */
export function describeDifference({ field, recorded, now }: Difference): string {
  const [before, after] = [inText(recorded), inText(now)];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const from = Math.max(0, before.lastIndexOf("\n", start) + 1, start - contextCharacters);
  return `${field}: recorded ${excerpt(before, from)}, now ${excerpt(after, from)}`;
}

const contextCharacters = 30;
const shownCharacters = 80;

const excerpt = (text: string, from: number): string => {
  const line = text.slice(from, from + shownCharacters);
  const isWhole = from === 0 && text.length <= shownCharacters;
  return line === "" ? "nothing" : JSON.stringify(isWhole ? line : `${from > 0 ? "…" : ""}${line}…`);
};

const inText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
const member = (value: object, name: string): unknown => (value as Record<string, unknown>)[name];
