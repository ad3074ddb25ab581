// Applies edits to files: all of them, or none and a sentence why.
import type { EditRequest, EditResult } from "@agentcli/protocol";
import type { Place } from "../place.ts";
import { commit } from "./commit.ts";
import { planEdits } from "./plan.ts";
import { Refusal } from "./refusal.ts";

export function applyEdits(place: Place, request: EditRequest): Promise<EditResult> {
  const result = turn.then(() => applyAlone(place, request));
  turn = result.catch(() => undefined);
  return result;
}

// One patch at a time: of two that read the same file before either writes it, one would be lost.
let turn: Promise<unknown> = Promise.resolve();

async function applyAlone(place: Place, request: EditRequest): Promise<EditResult> {
  if (place.writable !== "anywhere" && place.writable.length === 0) {
    return { kind: "refused", message: "writing is blocked by the read-only sandbox" };
  }
  try {
    const plan = await planEdits(place, request.edits);
    await commit(plan.effects);
    return { kind: "edited", files: plan.files };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", message: error.message };
    throw error;
  }
}
