// Runs every scenario of the contract against the provider `local` as the user of this process, and prints what failed.
import { join } from "node:path";
import type { Workspace } from "@agentcli/protocol";
import { type MachineHarness, machineScenarios, unlimited } from "@agentcli/testkit/machines";
import { type Machine, openLocalProvider, openMachineWorkspace, type Supervisor } from "../../src/machines/index.ts";
import { machineVariables } from "./variables.ts";

const [directory = "", serverProgram = "", names = ""] = process.argv.slice(2);
const provider = await openLocalProvider({ directory, path: process.env.PATH ?? "", serverProgram });
const capabilities = await provider.capabilities();

const dials = new Map<string, Supervisor["dial"]>();
let sharedMachine: Promise<Workspace> | undefined;

async function start(machine: Machine): Promise<Workspace> {
  const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
  dials.set(machine.id, supervisor.dial);
  return openMachineWorkspace(supervisor, { root: "/", incarnation: "test", env: machineVariables });
}

async function openShared(): Promise<Workspace> {
  return start(await provider.create({ id: "shared", layers: [], limits: unlimited }));
}

const harness: MachineHarness<Machine> = {
  provider,
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

const chosen = Object.entries(machineScenarios).filter(([name]) => name.includes(names));
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
