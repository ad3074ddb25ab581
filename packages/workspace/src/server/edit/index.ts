// Applies edits to files: all of them, or none and the reason.
import type { EditRequest, EditResult } from "@agentcli/protocol";
import type { FileScope } from "../file-scope.ts";
import { commit } from "./commit.ts";
import { planEdits } from "./plan.ts";
import { Refusal } from "./refusal.ts";

export function applyEdits(scope: FileScope, request: EditRequest): Promise<EditResult> {
  const result = lastEdit.then(() => applyAlone(scope, request));
  lastEdit = result.catch(() => undefined);
  return result;
}

// One patch at a time: of two that read the same file before either writes it, one would be lost.
let lastEdit: Promise<unknown> = Promise.resolve();

async function applyAlone(scope: FileScope, request: EditRequest): Promise<EditResult> {
  if (scope.writable !== "anywhere" && scope.writable.length === 0) {
    return { kind: "refused", message: "writing is blocked by the read-only sandbox" };
  }
  try {
    const plan = await planEdits({ ...scope, asWritten: request.asWritten === true }, request.edits);
    await commit(plan.effects);
    return { kind: "edited", files: plan.files };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", message: error.message };
    throw error;
  }
}
