// A part of a list that is all here: the cursor names the last of the part before.
import type { Page } from "../agent-calls.ts";
import { ConfigurationError } from "../errors.ts";

const defaultLimit = 20;

export function pageOf<Item>(
  all: Item[],
  nameOf: (item: Item) => string,
  { limit = defaultLimit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): Page<Item> {
  const before = cursor === undefined ? -1 : all.findIndex((item) => nameOf(item) === cursor);
  if (cursor !== undefined && before === -1)
    throw new ConfigurationError(`Unknown cursor ${cursor}. Start the list again.`, { code: "invalid_cursor" });
  const items = all.slice(before + 1, before + 1 + limit);
  const last = items.at(-1);
  return { items, ...(last && before + 1 + limit < all.length && { nextCursor: nameOf(last) }) };
}
