// The rules that come before a conversation, for wires with one place for them.
import type { Message } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";

/** Only those at the start: a rule that is added later must not change what was sent before. */
export function splitContext(messages: Message[]): { rules: Part[][]; conversation: Message[] } {
  const rules: Part[][] = [];
  for (const message of messages) {
    if (message.role !== "developer") break;
    rules.push(message.parts);
  }
  return { rules, conversation: messages.slice(rules.length) };
}
