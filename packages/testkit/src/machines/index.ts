// What every provider of machines promises. Without a test framework: a suite runs the scenarios in a process of another user.
import { diskScenarios } from "./disks.ts";
import { escapeScenarios } from "./escapes.ts";
import type { Scenario } from "./harness.ts";
import { lifecycleScenarios } from "./lifecycle.ts";
import { directoryScenarios, limitScenarios } from "./limits.ts";

export { type DockerDaemon, startDockerDaemon } from "./docker-daemon.ts";
export { type MachineHarness, type Scenario, sh, unlimited } from "./harness.ts";
export { findLeftovers, type MachineTraces } from "./leftovers.ts";
export { directoryScenarios };

export const machineScenarios: Record<string, Scenario> = {
  ...lifecycleScenarios,
  ...diskScenarios,
  ...limitScenarios,
  ...escapeScenarios,
};

/** An overlay refuses it. Where `/workspace` is a directory of the host, such a file is one that nothing reads. */
const onDiskOnly = "a machine cannot make a whiteout by hand";

/** What holds for each sandbox in a machine too, where `/workspace` is not on its disk. */
const inSandbox = [
  "a machine runs commands as its root, who is an ordinary user outside",
  "a removed machine leaves no process, mount, loop device, control group, file or range of ids",
  "a command that needs more memory than the machine has is killed, and the machine goes on",
  "a machine cannot have more processes than its limit",
  "the size of /tmp is limited",
  ...Object.keys(escapeScenarios).filter((name) => name !== onDiskOnly),
];

export const sandboxScenarios: Record<string, Scenario> = Object.fromEntries(
  Object.entries(machineScenarios).filter(([name]) => inSandbox.includes(name)),
);

/** Of them, what holds without a machine too: for a user of its own in a sandbox of the host. */
const ofMachinesOnly = [
  onDiskOnly,
  "what a machine does to its layers does not change them",
  "marks that an overlay reads, made in a machine, show no other files when it starts again",
];

export const hostScenarios: Record<string, Scenario> = Object.fromEntries(
  Object.entries(escapeScenarios).filter(([name]) => !ofMachinesOnly.includes(name)),
);
