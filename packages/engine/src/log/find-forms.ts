// Finds whether a text contains one of many strings, reading a fraction of its characters: texts can have megabytes, and
// almost none has a secret in it.

/** From the last pair of characters in a window follows how far the next window can be. */
const buckets = 4096;
const bucketOf = (left: number, right: number): number => ((left << 5) ^ right) & (buckets - 1);

/**
 * All strings have two characters at least. After Wu and Manber: a window of the length of the shortest string moves
 * along, by as much as no string can begin within.
 */
export function formFinder(forms: string[]): (text: string) => boolean {
  const width = Math.min(255, ...forms.map(({ length }) => length));
  const shifts = new Uint8Array(buckets).fill(width - 1);
  const endings = new Map<number, string[]>();
  for (const form of forms) {
    for (let at = 1; at < width; at += 1) {
      const bucket = bucketOf(form.charCodeAt(at - 1), form.charCodeAt(at));
      shifts[bucket] = Math.min(shifts[bucket] ?? 0, width - 1 - at);
      if (at === width - 1) endings.set(bucket, [...(endings.get(bucket) ?? []), form]);
    }
  }
  return (text) => {
    for (let at = width - 1; at < text.length; ) {
      const bucket = bucketOf(text.charCodeAt(at - 1), text.charCodeAt(at));
      const shift = shifts[bucket] ?? 0;
      if (shift === 0 && endings.get(bucket)?.some((form) => text.startsWith(form, at - width + 1))) return true;
      at += shift || 1;
    }
    return false;
  };
}
