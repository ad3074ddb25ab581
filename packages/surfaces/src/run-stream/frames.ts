// Building blocks of the frames of a run's stream.
import type { Outcome } from "@agentcli/protocol";
import type { InteractionUpdate, StreamFrame } from "@agentcli/protocol/api";

/** Frames that share one id: the simple frame, and its update. */
export type FrameGroup = StreamFrame[];

export const update = (data: InteractionUpdate): StreamFrame => ({ event: "interaction_update", data });

/** Limit of a member of a frame, in characters. */
export const maxMemberLength = 64 * 1024;

/** Head and tail of a text, so that one call fits into a frame. */
export function cut(text: string): string {
  const half = maxMemberLength / 4;
  if (text.length <= 2 * half) return text;
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`;
}

export const textOf = ({ parts }: Outcome): string =>
  parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const todoStatus: Record<string, "pending" | "inProgress" | "completed"> = {
  in_progress: "inProgress",
  completed: "completed",
};

/** Steps of a plan with the status names of the stream. */
export const todos = (plan: unknown) =>
  (Array.isArray(plan) ? plan : []).map((entry) => {
    const { step, status } = fieldsOf(entry);
    return { content: String(step ?? ""), status: todoStatus[String(status)] ?? "pending" };
  });
