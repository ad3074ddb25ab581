// Updates of a run's stream as the turns a person would read.
import type { InteractionUpdate, ToolCall } from "@agentcli/protocol/api";

export type ConversationStep =
  | { type: "thinkingMessage"; message: { text: string; thinkingDurationMs?: number } }
  | { type: "assistantMessage"; message: { text: string } }
  | { type: "toolCall"; callId: string; message: ToolCall };

export interface ConversationTurn {
  type: "agentConversationTurn";
  turn: { userMessage?: { text: string }; steps: ConversationStep[] };
}

export interface Conversation {
  /** The steps that are complete with this update. */
  add(update: InteractionUpdate): ConversationStep[];
  turns(): ConversationTurn[];
}

/** A reply that was begun and given up never completes, and does not count. */
export function openConversation(): Conversation {
  const turns: ConversationTurn[] = [];
  let reply: ConversationStep[] = [];
  const turn = (): ConversationTurn["turn"] => {
    const last = turns.at(-1) ?? { type: "agentConversationTurn", turn: { steps: [] } };
    if (turns.length === 0) turns.push(last);
    return last.turn;
  };
  const complete = (steps: ConversationStep[]) => {
    if (steps.length > 0) turn().steps.push(...steps);
    return steps;
  };
  return {
    turns: () => structuredClone(turns),
    add(update) {
      switch (update.type) {
        case "user-message-appended":
          turns.push({
            type: "agentConversationTurn",
            turn: { userMessage: { text: update.userMessage.text }, steps: [] },
          });
          return [];
        case "step-started":
          reply = [];
          return [];
        case "thinking-delta":
          extend(reply, "thinkingMessage", update.text);
          return [];
        case "text-delta":
          extend(reply, "assistantMessage", update.text);
          return [];
        case "thinking-completed":
          timeLast(reply, update.thinkingDurationMs);
          return [];
        case "step-completed":
          return complete(reply.splice(0));
        case "tool-call-completed":
          return complete([{ type: "toolCall", callId: update.callId, message: update.toolCall }]);
        case "tool-call-started":
        case "summary":
        case "summary-started":
        case "summary-completed":
        case "shell-output-delta":
        case "turn-ended":
        case "tool-requests-listed":
          return [];
      }
    },
  };
}

function extend(reply: ConversationStep[], type: "thinkingMessage" | "assistantMessage", text: string): void {
  const last = reply.at(-1);
  if (last?.type === type) last.message.text += text;
  else reply.push({ type, message: { text } });
}

function timeLast(reply: ConversationStep[], thinkingDurationMs: number): void {
  const last = reply.at(-1);
  if (last?.type === "thinkingMessage") last.message.thinkingDurationMs = thinkingDurationMs;
}
