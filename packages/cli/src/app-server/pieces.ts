// Pieces of a growing text: which item they belong to, and how two that follow each other become one.

export interface Notice {
  method: string;
  params: Record<string, unknown>;
}

/** A joined piece stays smaller than this, so that no message becomes too large to be read. */
const mostJoined = 256 * 1024;

/** What a notification is about: an item of a thread, or a command of the client's own. */
export function itemOf({ threadId, itemId, item, processId }: Notice["params"]): string | undefined {
  const id = itemId ?? (item as { id?: unknown } | undefined)?.id;
  if (typeof id === "string") return `${threadId} ${id}`;
  return typeof processId === "string" ? processId : undefined;
}

/** One notification that says what both said; none where they are not two pieces of the same text. */
export function join(earlier: Notice, later: Notice): Notice | undefined {
  if (earlier.method !== later.method) return undefined;
  const { delta, deltaBase64, capReached: _, ...place } = earlier.params;
  const { delta: nextDelta, deltaBase64: nextBase64, capReached, ...nextPlace } = later.params;
  if (JSON.stringify(place) !== JSON.stringify(nextPlace)) return undefined;
  if (typeof delta === "string" && typeof nextDelta === "string" && delta.length + nextDelta.length < mostJoined)
    return { ...later, params: { ...later.params, delta: delta + nextDelta } };
  if (typeof deltaBase64 !== "string" || typeof nextBase64 !== "string") return undefined;
  if (deltaBase64.length + nextBase64.length >= mostJoined) return undefined;
  return { ...later, params: { ...later.params, deltaBase64: joinBase64(deltaBase64, nextBase64), capReached } };
}

const joinBase64 = (first: string, second: string): string =>
  Buffer.concat([Buffer.from(first, "base64"), Buffer.from(second, "base64")]).toString("base64");
