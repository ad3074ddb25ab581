// The conversation with an agent, from its sealed thread.
import type { StoredRecord } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";
import type { V0Message } from "@agentcli/protocol/api";
import type { PlatformContext } from "../../foundation/index.ts";
import { type RunRequest, readThreadRecords, requestAad, threadOf } from "../../runs/index.ts";
import type { ListedAgent } from "../views/views.ts";

/** Includes the prompts of runs that never began. */
export async function readMessages({ db, vault }: PlatformContext, agent: ListedAgent): Promise<V0Message[]> {
  const key = await vault.unwrap(agent.data_key);
  const runs = await db
    .selectFrom("runs")
    .select(["id", "request"])
    .where("agent_id", "=", agent.id)
    .orderBy("number")
    .execute();
  const messages = new Map<string, V0Message[]>();
  let turnId = "";
  for await (const page of readThreadRecords(db, key, threadOf(agent.id)))
    for (const stored of page) {
      if (stored.record.type === "turn.begun") turnId = stored.record.turnId;
      messages.set(turnId, messages.get(turnId) ?? []);
      messages.get(turnId)?.push(...messagesIn(stored));
    }
  return runs.flatMap(({ id, request }) => {
    const { prompt }: RunRequest = JSON.parse(key.openText(request, requestAad(id)));
    return messages.get(id) ?? [{ id: `msg-${id}`, type: "user_message", text: prompt.text }];
  });
}

function messagesIn({ seq, record }: StoredRecord): V0Message[] {
  if (record.type === "turn.begun" || (record.type === "input.added" && record.origin === "user"))
    return [{ id: `msg-${seq}`, type: "user_message", text: textOf(record.input) }];
  if (record.type !== "model.replied") return [];
  return record.blocks.flatMap((block, index) =>
    block.type === "message" && block.text !== ""
      ? [{ id: `msg-${seq}-${index}`, type: "assistant_message" as const, text: block.text }]
      : [],
  );
}

const textOf = (parts: Part[]): string => parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
