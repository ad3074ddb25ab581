// Plays a server with machines, which the test kills, and the server after it, which cleans up.

import { basename } from "node:path";
import { findLeftovers, unlimited } from "@agentcli/testkit/machines";
import { openLocalProvider, openMachineWorkspace } from "../../src/machines/index.ts";
import { machineVariables } from "./variables.ts";

const [mode = "", directory = "", serverProgram = "", killedPid = ""] = process.argv.slice(2);
const provider = await openLocalProvider({ directory, path: process.env.PATH ?? "", serverProgram });
/** Of this run only: another one on this host must not be taken for what is left of it. */
const ids = ["kept", "clone"].map((name) => `${name}-${basename(directory).toLowerCase()}`);
const [keptId = "", cloneId = ""] = ids;
const limits = { ...unlimited, diskBytes: 32 * 1024 ** 2 };
type Machine = Awaited<ReturnType<typeof provider.create>>;

async function run(machine: Machine, script: string): Promise<string> {
  const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
  const workspace = await openMachineWorkspace(supervisor, { root: "/", incarnation: "test", env: machineVariables });
  let output = "";
  const start = { argv: ["/bin/sh", "-c", script] };
  const take = ({ text }: { text: string }) => {
    output += text;
  };
  await workspace.exec({ id: "script", start }, take, new AbortController().signal);
  return output;
}

/** Everything a server does with machines. */
async function work(): Promise<void> {
  const kept = await provider.create({ id: keptId, layers: [], limits });
  await run(kept, "echo text > /workspace/file; sync; setsid sleep 1000 > /dev/null &");
  await kept.freeze();
  process.stdout.write("started\n");
  if (mode === "wait-frozen") await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
  await kept.thaw();
  const layers = await kept.snapshot();
  const clone = await provider.create({ id: cloneId, layers, limits });
  await run(clone, "true");
  await clone.remove();
  await kept.stop();
}

/** What is left before and after the only machine is removed, and what is on its disk. */
async function check(): Promise<void> {
  await provider.collect();
  const machines = await provider.list();
  const states = await Promise.all(machines.map((machine) => machine.state()));
  const kept = machines.find(({ id }) => id === keptId);
  const file = kept ? await run(kept, "cat /workspace/file") : null;
  for (const machine of machines) await machine.remove();
  await provider.capabilities();
  const left = findLeftovers({ directory, ids, serverPid: Number(killedPid) });
  process.stdout.write(JSON.stringify({ states, file, left }));
}

const { obstacle } = await provider.capabilities();
if (mode === "probe") process.stdout.write(JSON.stringify(obstacle));
else await (mode === "check" ? check() : work());
process.exit(0);
