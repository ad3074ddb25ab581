// What was messageOf in a local run, as a list of messages.
import type { AgentMessage } from "../agent-calls.ts";
import { openConversation } from "../conversation.ts";
import type { LocalAgentStore, LocalRunRecord } from "../local-store.ts";

export async function messagesOf({ agentId, id }: LocalRunRecord, store: LocalAgentStore): Promise<AgentMessage[]> {
  const conversation = openConversation();
  for (const { frame } of await store.runEvents.read(agentId, id, 0))
    if (frame.event === "interaction_update") conversation.add(frame.data);
  let count = 0;
  const messageOf = (role: AgentMessage["type"], text: string): AgentMessage => ({
    ...{ type: role, uuid: `${id}:${count++}`, agent_id: agentId, run_id: id },
    message: { role, content: [{ type: "text", text }] },
  });
  return conversation
    .turns()
    .flatMap(({ turn }) => [
      ...(turn.userMessage ? [messageOf("user", turn.userMessage.text)] : []),
      ...turn.steps.flatMap((step) =>
        step.type === "assistantMessage" ? messageOf("assistant", step.message.text) : [],
      ),
    ]);
}
