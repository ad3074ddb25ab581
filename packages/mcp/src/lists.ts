// Reads a list that a server gives page by page.
import type { Answer, Conversation, Question } from "./conversation.ts";
import { type JsonObject, textOf } from "./json.ts";

/** A server that never ends its list is not asked for ever. */
const mostPages = 100;

export async function readList(
  conversation: Pick<Conversation, "ask">,
  { key, ...question }: Question & { key: string },
  signal: AbortSignal,
): Promise<Answer<JsonObject[]>> {
  const entries: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = { ...question.params, ...(cursor === undefined ? {} : { cursor }) };
    const answer = await conversation.ask({ ...question, params }, signal);
    if (answer.kind === "fault") return answer;
    entries.push(...entriesOf(answer.result, key));
    cursor = textOf(answer.result.nextCursor);
    if (cursor === undefined || cursor === "" || seen.has(cursor)) break;
    seen.add(cursor);
  }
  return { kind: "result", result: entries };
}

/** What is no object in a list is passed over: one bad entry must not cost the others. */
export const entriesOf = (result: JsonObject, key: string): JsonObject[] => {
  const list = result[key];
  return Array.isArray(list)
    ? (list.filter((entry) => typeof entry === "object" && entry !== null && !Array.isArray(entry)) as JsonObject[])
    : [];
};
