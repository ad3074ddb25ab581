// A run on the platform: its stream over as many connections as it takes, and its end by request.
import type { Run as WireRun } from "@agentcli/protocol/api";
import type { Connection } from "./connection.ts";
import { followRun, type RunSource } from "./follow.ts";
import type { RunBackend } from "./run.ts";
import type { Runtime } from "./runtime.ts";

export function cloudBackend(run: WireRun, connection: Connection, { clock }: Runtime): RunBackend {
  const path = `/v1/agents/${run.agentId}/runs/${run.id}`;
  const source: RunSource = {
    open: (lastEventId, signal) =>
      connection.open(
        {
          operation: "run.stream",
          method: "GET",
          path: `${path}/stream`,
          ...(lastEventId !== undefined && { lastEventId }),
        },
        signal,
      ),
    read: (signal) => connection.ask({ operation: "run.read", method: "GET", path, retry: "never" }, signal),
  };
  return {
    follow: (stop) => followRun(source, clock, stop),
    async cancel(signal) {
      await connection.ask({ operation: "run.cancel", method: "POST", path: `${path}/cancel` }, signal);
    },
  };
}
