// [otel]: the trace and the metrics of a run, sent when it closes.
import type { Assembly } from "@agentcli/host";
import { isOn, openTelemetry } from "@agentcli/host/otel";
import type { FileStore } from "@agentcli/host/sessions";
import type { OtelConfig } from "@agentcli/protocol";
import type { Program } from "../program.ts";

export function openRunTelemetry(config: OtelConfig, { environment, reporter, version }: Program) {
  if (!isOn(config)) return null;
  const telemetry = openTelemetry({
    config,
    variables: environment.variables,
    program: { name: "agentcli", version },
    parent: environment.variables.TRACEPARENT,
    attributes: {},
    warn: (message) => reporter.log(`warning: ${message}`),
  });
  return {
    store: (store: FileStore) => telemetry.store(store),
    /** For the commands of the run. */
    context: { traceparent: telemetry.traceparent },
    closing: ({ close }: Assembly) => ({
      async close() {
        await close();
        await telemetry.end();
      },
    }),
  };
}
