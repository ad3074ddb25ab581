// The pieces that all frames of a run's stream are made with.
import type { Outcome } from "@agentcli/protocol";
import type { InteractionUpdate, StreamFrame } from "@agentcli/protocol/api";

/** Frames that share one id: what simple readers take, and the update that goes with it. */
export type FrameGroup = StreamFrame[];

export const update = (data: InteractionUpdate): StreamFrame => ({ event: "interaction_update", data });

/** A member of a frame may have this many characters. */
export const largestMember = 64 * 1024;

/** Head and tail of a text, so that one call stays a frame of bearable size. */
export function cut(text: string): string {
  const half = largestMember / 4;
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

/** Steps of a plan in the words of the stream. */
export const todos = (plan: unknown) =>
  (Array.isArray(plan) ? plan : []).map((entry) => {
    const { step, status } = fieldsOf(entry);
    return { content: String(step ?? ""), status: todoStatus[String(status)] ?? "pending" };
  });
