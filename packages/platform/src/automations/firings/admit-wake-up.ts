// Lets a wake-up of an agent start by the limits of the automation that started the agent. Decided once.
import type { AutomationLimits } from "@agentcli/protocol/api";
import { raiseAlert } from "../alerts.ts";
import type { AutomationHost } from "../host.ts";
import { lockAutomation } from "../store.ts";
import { cancelRuns, optional, readUse } from "./admit.ts";
import { judgeLimits } from "./limits.ts";

/** So long a wake-up waits before the limits are asked again. */
const waitMs = 5_000;

export type WakeUpAdmission =
  | { kind: "admitted"; budgetUsd: number | undefined }
  | { kind: "waits" }
  | { kind: "refused"; reason: string };

export interface WakeUpRequest {
  wakeUpId: string;
  automationId: string;
  limits: Partial<AutomationLimits>;
}

/** One firing or wake-up of an automation after another, on whatever server. */
export function admitWakeUp(
  host: AutomationHost,
  { wakeUpId, automationId, limits }: WakeUpRequest,
): Promise<WakeUpAdmission> {
  return host.platform.db.transaction().execute(async (tx) => {
    await lockAutomation(tx, automationId);
    const row = await tx.selectFrom("wake_ups").selectAll().where("id", "=", wakeUpId).executeTakeFirstOrThrow();
    if (row.admitted_at !== null) return { kind: "admitted", budgetUsd: optional(row.reserved_usd) };
    const now = host.now();
    const admission = judgeLimits(
      { whenBusy: "queue", ...limits },
      await readUse(tx, { automationId, except: wakeUpId, now }),
    );
    if (admission.kind === "refused") {
      const message = `An agent was not woken. ${admission.reason}`;
      if (admission.isAlert) await raiseAlert(tx, { automationId, firingId: null, kind: "limit_reached", message });
      return { kind: "refused", reason: admission.reason };
    }
    if (admission.kind === "waits") {
      const retry_at = new Date(now.getTime() + waitMs);
      await tx.updateTable("wake_ups").set({ retry_at }).where("id", "=", wakeUpId).execute();
      return { kind: "waits" };
    }
    if (admission.replaced > 0) {
      const reason = `Its run was cancelled: the wake-up ${wakeUpId} replaced it.`;
      await cancelRuns(tx, { automationId, count: admission.replaced, reason });
    }
    const reserved_usd = admission.budgetUsd === null ? null : String(admission.budgetUsd);
    await tx.updateTable("wake_ups").set({ admitted_at: now, reserved_usd }).where("id", "=", wakeUpId).execute();
    return { kind: "admitted", budgetUsd: admission.budgetUsd ?? undefined };
  });
}
