// Machines: a computer of its own for each agent.
export {
  type AgentMachines,
  type MachineBase,
  type MachineChoice,
  MachineFault,
  type MachineUse,
  openAgentMachines,
} from "./agent-machines.ts";
export { type DockerOptions, openDockerProvider } from "./docker/index.ts";
export {
  type BuilderNamespace,
  inBuilderNamespace,
  type LocalOptions,
  openLocalProvider,
  removeMachineFiles,
  runProgram,
} from "./local/index.ts";
export { type Machines, machinesDirectory, openMachines } from "./open.ts";
export { toolPath } from "./parts/index.ts";
export {
  type EgressOptions,
  type Machine,
  type MachineCapabilities,
  type MachineLimits,
  type MachineProvider,
  type MachineSpec,
  type MachineStats,
  MachineUnavailable,
  type MountedDisk,
  type MountOptions,
  type PreparedDisk,
  type Supervisor,
} from "./provider.ts";
export {
  forgetRemovedDisk,
  type MachineReport,
  noteRemovedDisk,
  readRemovedDisk,
  removeAgentMachine,
  reportMachines,
  setAgentMachineAside,
  stopMachine,
} from "./this-host.ts";
export { type MachineWorkspaceOptions, openMachineWorkspace } from "./workspace.ts";
