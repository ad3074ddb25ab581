// Pieces of a growing text: which item they belong to, and how two that follow each other become one.

export interface Notice {
  method: string;
  params: Record<string, unknown>;
}

/** A joined piece stays smaller than this, so that no message becomes too large to be read. */
const maxJoined = 256 * 1024;

/** What a notification is about: an item of a thread, or a command of the client. */
export function itemOf({ threadId, itemId, item, processId }: Notice["params"]): string | undefined {
  const id = itemId ?? (item as { id?: unknown } | undefined)?.id;
  if (typeof id === "string") return `${threadId} ${id}`;
  return typeof processId === "string" ? processId : undefined;
}

/** Both notifications joined into one; none if they are not two pieces of the same text. */
export function join(earlier: Notice, later: Notice): Notice | undefined {
  if (earlier.method !== later.method) return undefined;
  const { delta, deltaBase64, capReached: _, ...identity } = earlier.params;
  const { delta: nextDelta, deltaBase64: nextBase64, capReached, ...nextIdentity } = later.params;
  if (JSON.stringify(identity) !== JSON.stringify(nextIdentity)) return undefined;
  if (typeof delta === "string" && typeof nextDelta === "string" && delta.length + nextDelta.length < maxJoined)
    return { ...later, params: { ...later.params, delta: delta + nextDelta } };
  if (typeof deltaBase64 !== "string" || typeof nextBase64 !== "string") return undefined;
  if (deltaBase64.length + nextBase64.length >= maxJoined) return undefined;
  return { ...later, params: { ...later.params, deltaBase64: joinBase64(deltaBase64, nextBase64), capReached } };
}

const joinBase64 = (first: string, second: string): string =>
  Buffer.concat([Buffer.from(first, "base64"), Buffer.from(second, "base64")]).toString("base64");
