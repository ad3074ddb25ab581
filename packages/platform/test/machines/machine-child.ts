// Runs the scenarios of the contract against a provider as the user of this process, and prints what failed: in the machine
// itself, in a sandbox inside it as runs have, or in a sandbox of the host without a machine.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "@agentcli/protocol";
import {
  directoryScenarios,
  hostScenarios,
  type MachineHarness,
  machineScenarios,
  sandboxScenarios,
  unlimited,
} from "@agentcli/testkit/machines";
import { giveFiles, openWorkspace, sandboxPolicy } from "@agentcli/workspace";
import {
  type Machine,
  type MachineLimits,
  openDockerProvider,
  openLocalProvider,
  openMachineWorkspace,
  type Supervisor,
} from "../../src/machines/index.ts";
import { machineVariables } from "./variables.ts";

const [directory = "", serverProgram = "", location = "machine", socketPath] = process.argv.slice(2);
const options = { directory, path: process.env.PATH ?? "", serverProgram };
const provider = await (socketPath ? openDockerProvider({ ...options, socketPath }) : openLocalProvider(options));
const capabilities = await provider.capabilities();

const dials = new Map<string, Supervisor["dial"]>();
let sharedMachine: Promise<Workspace> | undefined;

async function startSupervisor(machine: Machine): Promise<Workspace> {
  const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
  dials.set(machine.id, supervisor.dial);
  return openMachineWorkspace(supervisor, { root: "/", incarnation: "test", env: machineVariables });
}

/** Its /workspace is a directory of the host, as that of an agent. */
async function startSandbox(machine: Machine): Promise<Workspace> {
  const root = join(directory, "workspaces", machine.id);
  mkdirSync(root, { recursive: true });
  const disk = await provider.mount(machine.id, {
    directories: [root],
    kept: [],
    limits: limitsOf.get(machine.id) ?? unlimited,
  });
  if (disk.userId !== null) await giveFiles(root, disk.userId);
  const placement = { directory: root, path: "/workspace" };
  const domains = { network: "proxy" as const, allowedDomains: ["example.com"] };
  const policy = sandboxPolicy({ mode: "workspace-write", root, view: "system", shown: [root], placement, ...domains });
  const choices = { serverProgram, env: machineVariables, incarnation: randomUUID(), disk: async () => disk };
  return openWorkspace(policy, choices);
}

let nextUserId = 2_000_000_000;

/** As agents have where they work on the host: a directory, and as root a user, of their own. */
async function startOnHost({ id }: Machine): Promise<Workspace> {
  const root = join(directory, "workspaces", id);
  mkdirSync(root, { recursive: true });
  const placement = { directory: root, path: "/workspace" };
  const domains = { network: "proxy" as const, allowedDomains: ["example.com"] };
  const policy = sandboxPolicy({ mode: "workspace-write", root, view: "system", shown: [root], placement, ...domains });
  const options = { serverProgram, env: machineVariables, incarnation: randomUUID() };
  if (process.geteuid?.() !== 0) return openWorkspace(policy, options);
  nextUserId += 1;
  await giveFiles(root, nextUserId);
  return openWorkspace({ ...policy, userId: nextUserId }, options);
}

const starts = { machine: startSupervisor, sandbox: startSandbox, host: startOnHost };
const start = location === "sandbox" || location === "host" ? starts[location] : starts.machine;

async function openShared(): Promise<Workspace> {
  return start(await provider.create({ id: "shared", layers: [], limits: unlimited }));
}

/** A sandbox has the limits that its machine is mounted with. */
const limitsOf = new Map<string, MachineLimits>();
const noting: typeof provider = {
  ...provider,
  create(spec) {
    limitsOf.set(spec.id, spec.limits);
    return provider.create(spec);
  },
};

const harness: MachineHarness<Machine> = {
  provider: noting,
  directory,
  start,
  dial(machine, port) {
    const dial = dials.get(machine.id);
    if (dial === undefined) throw new Error(`${machine.id} was not started.`);
    return dial(port);
  },
  shared() {
    sharedMachine ??= openShared();
    return sharedMachine;
  },
};

const inMachine = { ...machineScenarios, ...(socketPath ? {} : directoryScenarios) };
const scenarios = { machine: inMachine, sandbox: sandboxScenarios, host: hostScenarios };
const chosen = Object.entries(location === "sandbox" || location === "host" ? scenarios[location] : scenarios.machine);
const failures: Record<string, string | null> = {};
for (const [name, scenario] of chosen) failures[name] = await failureOf(() => scenario(harness as MachineHarness));
await (await provider.find("shared"))?.remove();
process.stdout.write(JSON.stringify({ capabilities, failures }), () => process.exit(0));

/** Where there can be no machines, creating one says so. */
async function failureOf(scenario: () => Promise<void>): Promise<string | null> {
  try {
    if (capabilities.obstacle === null) await scenario();
    else await expectRefused();
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function expectRefused(): Promise<void> {
  const refusal = await provider.create({ id: "none", layers: [], limits: unlimited }).then(
    () => "created",
    (error: Error) => error.message,
  );
  if (refusal !== capabilities.obstacle) throw new Error(`Expected ${capabilities.obstacle}, got ${refusal}.`);
  const left = join(directory, "machines");
  if ((await provider.list()).length > 0) throw new Error(`There is a machine in ${left}.`);
}
