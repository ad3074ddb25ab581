// Works off a queue in turns: no owner waits until all of another one's is done.

/** So many in a row of one owner. */
export const turnLength = 20;

/** `next` handles one that is not of an excluded owner, and returns its owner; null: there is none. */
export async function inTurns(next: (excluded: string[]) => Promise<string | null>): Promise<void> {
  let handled = new Map<string, number>();
  for (;;) {
    const excluded = [...handled].flatMap(([owner, count]) => (count >= turnLength ? [owner] : []));
    const owner = await next(excluded);
    if (owner !== null) handled.set(owner, (handled.get(owner) ?? 0) + 1);
    else if (excluded.length === 0) return;
    else handled = new Map();
  }
}
