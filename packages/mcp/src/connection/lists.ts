// Reads a paginated list of a server.

import { type JsonObject, textOf } from "../json.ts";
import type { RpcClient, RpcRequest, RpcResponse } from "./rpc-client.ts";

/** Bounds a list that never ends. */
const maxPages = 100;

export async function readList(
  client: Pick<RpcClient, "request">,
  { key, ...request }: RpcRequest & { key: string },
  signal: AbortSignal,
): Promise<RpcResponse<JsonObject[]>> {
  const entries: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const params = { ...request.params, ...(cursor === undefined ? {} : { cursor }) };
    const response = await client.request({ ...request, params }, signal);
    if (response.kind === "fault") return response;
    entries.push(...entriesOf(response.result, key));
    cursor = textOf(response.result.nextCursor);
    if (cursor === undefined || cursor === "" || seen.has(cursor)) break;
    seen.add(cursor);
  }
  return { kind: "result", result: entries };
}

/** Entries that are not objects are skipped: one bad entry must not cost the others. */
export const entriesOf = (result: JsonObject, key: string): JsonObject[] => {
  const list = result[key];
  return Array.isArray(list)
    ? (list.filter((entry) => typeof entry === "object" && entry !== null && !Array.isArray(entry)) as JsonObject[])
    : [];
};
