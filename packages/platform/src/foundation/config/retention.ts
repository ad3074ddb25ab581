// How long is kept what is not needed for good, with the defaults.
import type { PlatformConfig } from "@agentcli/protocol";
import type { RetentionSettings } from "./settings.ts";

export const readRetention = (written: PlatformConfig["retention"] = {}): RetentionSettings => ({
  intervalSeconds: written.interval_seconds ?? 3_600,
  idempotencyHours: written.idempotency_hours ?? 24,
  sessionDays: written.session_days ?? 30,
  deliveryDays: written.delivery_days ?? 30,
  workspaceDays: written.workspace_days ?? 30,
  machineDays: written.machine_days ?? 90,
  mirrorDays: written.mirror_days ?? 30,
  buildDays: written.build_days ?? 30,
  firingDays: written.firing_days ?? 90,
  workerDays: written.worker_days ?? 30,
  draftHours: written.draft_hours ?? 24,
});

/** As the keys would be written. */
export const retentionDefaults = (retention: RetentionSettings): Record<string, unknown> => ({
  "retention.interval_seconds": retention.intervalSeconds,
  "retention.idempotency_hours": retention.idempotencyHours,
  "retention.session_days": retention.sessionDays,
  "retention.delivery_days": retention.deliveryDays,
  "retention.workspace_days": retention.workspaceDays,
  "retention.machine_days": retention.machineDays,
  "retention.mirror_days": retention.mirrorDays,
  "retention.build_days": retention.buildDays,
  "retention.firing_days": retention.firingDays,
  "retention.worker_days": retention.workerDays,
  "retention.draft_hours": retention.draftHours,
});
