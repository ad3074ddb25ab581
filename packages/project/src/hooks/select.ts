// Divides hooks into those that run and those that do not.
import type { HookDefinition } from "@agentcli/protocol";

export interface JudgedHook {
  definition: HookDefinition;
  /** Why it does not run; null if it runs. */
  reason: string | null;
}

export interface SelectedHooks {
  definitions: HookDefinition[];
  skipped: { definition: HookDefinition; reason: string }[];
}

export const selectHooks = (judged: JudgedHook[]): SelectedHooks => ({
  definitions: judged.filter(({ reason }) => reason === null).map(({ definition }) => definition),
  skipped: judged.flatMap(({ definition, reason }) => (reason === null ? [] : [{ definition, reason }])),
});
