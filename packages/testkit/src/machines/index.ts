// What every provider of machines promises. Without a test framework: a suite runs the scenarios in a process of another user.
import { diskScenarios } from "./disks.ts";
import { escapeScenarios } from "./escapes.ts";
import type { Scenario } from "./harness.ts";
import { lifecycleScenarios } from "./lifecycle.ts";
import { limitScenarios } from "./limits.ts";

export { type MachineHarness, type Scenario, unlimited } from "./harness.ts";
export { findLeftovers, type MachineTraces } from "./leftovers.ts";

export const machineScenarios: Record<string, Scenario> = {
  ...lifecycleScenarios,
  ...diskScenarios,
  ...limitScenarios,
  ...escapeScenarios,
};
