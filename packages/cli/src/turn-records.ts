// The records a turn opens with, the same for a new thread and for one that goes on.
import type { ContextMessage, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { newId } from "./sessions/thread-id.ts";

/** A turn begins with what the prompt calls for and the prompt itself. */
export const beginTurn = (
  prompt: string,
  { context, settings }: { context: ContextMessage[]; settings: TurnSettings },
): ThreadRecord => ({
  type: "turn.begun",
  turnId: newId(Date.now()),
  ...(context.length > 0 && { context }),
  input: [{ type: "text", text: prompt }],
  settings,
});

export const warn = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });
