// How a local run ends: from the end of its turn, told to its readers.

import type { TurnEnd } from "@agentcli/protocol";
import type { FrameGroup } from "@agentcli/surfaces/run-stream";
import type { LocalRunRecord } from "../local-store.ts";

export type RunEnd = Pick<LocalRunRecord, "result" | "error"> & {
  status: "FINISHED" | "CANCELLED" | "ERROR" | "EXPIRED";
};

export function endOf(end: TurnEnd): RunEnd {
  switch (end.status) {
    case "completed":
      return { status: "FINISHED", result: end.message };
    case "cancelled":
      return { status: "CANCELLED" };
    case "failed":
      return { status: end.limit === "wall" ? "EXPIRED" : "ERROR", error: { code: end.code, message: end.message } };
  }
}

export function lastFrames(end: RunEnd, runId: string, durationMs: number): FrameGroup {
  const { status, result, error } = end;
  const data = { runId, status, ...(result !== undefined && { text: result }), durationMs, ...(error && { error }) };
  return [
    { event: "result", data },
    { event: "done", data: {} },
  ];
}
