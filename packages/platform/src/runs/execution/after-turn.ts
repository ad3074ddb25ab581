// What follows the turn of a run: its artifacts are kept, its changes published, and its end is named.
import type { TurnEnd } from "@agentcli/protocol";
import { isStorageFull, storageFullMessage } from "../../foundation/index.ts";
import type { OpenWorkspace } from "../../repositories/index.ts";
import { type Allowance, spendLimitReached } from "../usage/index.ts";
import type { RunAssembly, RunPlan } from "./compose/index.ts";
import type { RunEnd } from "./finish.ts";
import type { ActiveRun } from "./records.ts";
import type { RunHost } from "./run-host.ts";

/** Keeps the artifacts of the agent; of a planning turn its plan is one. */
export async function collectArtifacts(
  ended: TurnEnd,
  { activeRun, assembly, host }: { activeRun: ActiveRun; assembly: RunAssembly; host: RunHost },
): Promise<void> {
  await host.artifacts.collect(activeRun, assembly.artifacts);
  if (activeRun.run.request.mode === "plan" && ended.status === "completed")
    await host.artifacts.store(activeRun, "PLAN.md", Buffer.from(ended.message));
}

interface EndedRun {
  activeRun: ActiveRun;
  plan: RunPlan;
  host: RunHost;
  workspace: OpenWorkspace;
}

/** Hands the changes of a finished run off, or proposes them. Safe to call again. */
export async function publishChanges(
  end: RunEnd,
  { activeRun, plan, host, workspace }: EndedRun,
  signal: AbortSignal,
): Promise<RunEnd> {
  if (end.status !== "FINISHED" || activeRun.run.request.mode === "plan") return end;
  const { id: agentId, teamId, settings } = activeRun.agent;
  if (settings.effects !== undefined) {
    const { autoCreatePR } = settings;
    const { scrub } = plan;
    await host.proposeChanges({ agentId, teamId, runId: activeRun.run.id, autoCreatePR, scrub }, signal);
    return end;
  }
  if (workspace.repositories.length === 0) return end;
  const { branches, faults } = await host.handoff.publish(activeRun.run.id, signal);
  const [fault] = faults.map(asRunError);
  return fault ? { ...end, branches, status: "ERROR", error: fault } : { ...end, branches };
}

/** Git names a full disk in its own words. */
const asRunError = (fault: { code: string; message: string }): { code: string; message: string } =>
  isStorageFull(new Error(fault.message)) ? { code: "storage_full", message: storageFullMessage } : fault;

/** The end of the run that the end of its turn means. */
export function toRunEnd(end: TurnEnd, limitedBy: Allowance["limitedBy"] = "budget"): RunEnd {
  switch (end.status) {
    case "completed":
      return { branches: [], status: "FINISHED", text: end.message };
    case "cancelled":
      return { branches: [], status: "CANCELLED" };
    case "failed": {
      // Stopped by the check of spend limits, or by a budget in US dollars that was the rest of the spend limit.
      const isSpend = end.limit === "spend" || (end.code === "budget" && end.limit === "usd" && limitedBy === "spend");
      const error = isSpend
        ? { code: "spend_limit_reached", message: spendLimitReached }
        : { code: end.limit === "disk" ? "storage_full" : end.code, message: end.message };
      return { branches: [], status: end.limit === "wall" ? "EXPIRED" : "ERROR", error };
    }
  }
}
