// `platform machines list`
import { type MachineReport, reportMachines } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const machines = await reportMachines(settingsFor(invocation, program).settings);
  const asText = () => machines.map(line).join("") || "no machines\n";
  program.print(invocation.has("json") ? `${JSON.stringify(machines, null, 2)}\n` : asText());
  return 0;
}

function line({ id, state, memoryBytes, processes, diskBytes }: MachineReport): string {
  const memory = memoryBytes === null ? [] : [`memory ${mebibytes(memoryBytes)} MiB`];
  const count = processes === null ? [] : [`${processes} processes`];
  return `${[id, state, `disk ${mebibytes(diskBytes)} MiB`, ...memory, ...count].join("  ")}\n`;
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);
