// The conversation with an agent, from its sealed thread: it can be read as long as the agent exists.
import type { StoredRecord } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";
import type { ConversationMessage } from "@agentcli/protocol/api";
import type { PlatformContext } from "../../foundation/index.ts";
import { type RunRequest, readThreadRecords, requestAad, threadOf } from "../../runs/index.ts";
import type { ListedAgent } from "./views.ts";

/** Oldest first; includes the prompts of runs that never began. */
export async function readMessages({ db, vault }: PlatformContext, agent: ListedAgent): Promise<ConversationMessage[]> {
  const key = await vault.unwrap(agent.data_key);
  const runs = await db
    .selectFrom("runs")
    .select(["id", "request", "created_at"])
    .where("agent_id", "=", agent.id)
    .orderBy("number")
    .execute();
  const messages = new Map<string, Message[]>();
  let turnId = "";
  for await (const page of readThreadRecords(db, key, threadOf(agent.id)))
    for (const stored of page) {
      if (stored.record.type === "turn.begun") turnId = stored.record.turnId;
      messages.set(turnId, messages.get(turnId) ?? []);
      messages.get(turnId)?.push(...messagesIn(stored));
    }
  const own = new Set(runs.map(({ id }) => id));
  // Of a fork: what it was copied with.
  const copied = [...messages].filter(([id]) => !own.has(id));
  const before = copied.flatMap(([runId, list]) => list.map((message) => ({ ...message, runId })));
  const after = runs.flatMap(({ id, request, created_at }) => {
    const { prompt }: RunRequest = JSON.parse(key.openText(request, requestAad(id)));
    const unstarted = { id: `msg-${id}`, type: "user_message" as const, text: prompt.text };
    const found = messages.get(id) ?? [{ ...unstarted, createdAt: created_at.toISOString() }];
    return found.map((message) => ({ ...message, runId: id }));
  });
  return [...before, ...after];
}

type Message = Omit<ConversationMessage, "runId">;

function messagesIn({ seq, at: createdAt, record }: StoredRecord): Message[] {
  if (record.type === "turn.begun" || (record.type === "input.added" && record.origin === "user"))
    return [{ id: `msg-${seq}`, type: "user_message", text: textOf(record.input), createdAt }];
  if (record.type !== "model.replied") return [];
  return record.blocks.flatMap((block, index) =>
    block.type === "message" && block.text !== ""
      ? [{ id: `msg-${seq}-${index}`, type: "assistant_message" as const, text: block.text, createdAt }]
      : [],
  );
}

const textOf = (parts: Part[]): string => parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
