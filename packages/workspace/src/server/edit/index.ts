// Changes files of a place: all edits or none.
import type { EditRequest, EditResult } from "@agentcli/protocol";
import type { Place } from "../place.ts";

export async function applyEdits(_place: Place, _request: EditRequest): Promise<EditResult> {
  return { kind: "refused", message: "Nothing to edit." };
}
