// The trace of a run, where the operator has configured a collector: sent after the run has ended.
import type { SessionStore } from "@agentcli/engine";
import { isOn, openTelemetry } from "@agentcli/host/otel";
import { type PlatformContext, version } from "../../foundation/index.ts";
import type { RunPlan } from "./compose/index.ts";
import type { ActiveRun } from "./records.ts";

export interface RunTraces {
  /** The plan with the variable that makes the commands of the run, also on a worker, part of its trace. */
  withTraceVariable(plan: RunPlan): RunPlan;
  /** The store, with a span for what is written to it. `worker`: the one that runs the commands, if any. */
  tracedStore(store: SessionStore, worker: string | undefined): SessionStore;
  /** Never fails. */
  end(): Promise<void>;
}

export function openRunTraces({ settings, log }: PlatformContext, { agent, run }: ActiveRun): RunTraces {
  const { otel, variables } = settings;
  if (!isOn(otel)) return noTraces;
  const attributes = {
    "gen_ai.agent.id": agent.id,
    "platform.run.id": run.id,
    "platform.team.id": agent.teamId,
    "platform.worker": undefined as string | undefined,
  };
  const telemetry = openTelemetry({
    config: otel,
    variables,
    program: { name: "platform", version },
    parent: run.request.traceparent,
    attributes,
    warn: (message) => log.warn("telemetry.failed", { runId: run.id, reason: message }),
  });
  return {
    withTraceVariable: (plan) => ({ ...plan, variables: { TRACEPARENT: telemetry.traceparent, ...plan.variables } }),
    tracedStore(store, worker) {
      attributes["platform.worker"] = worker;
      return telemetry.store(store);
    },
    end: telemetry.end,
  };
}

const noTraces: RunTraces = { withTraceVariable: (plan) => plan, tracedStore: (store) => store, async end() {} };
