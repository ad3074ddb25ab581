// Runs scripts in a machine of the provider `local` as the user of this process, and prints what they said and what the proxy
// has recorded. Names of hosts are those of /etc/hosts where this process runs.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sh, unlimited } from "@agentcli/testkit/machines";
import { type Denial, giveFiles, openPlaceholders, openWorkspace, sandboxPolicy } from "@agentcli/workspace";
import { type Machine, openLocalProvider, openMachineWorkspace } from "../../src/machines/index.ts";
import { machineVariables } from "../machines/variables.ts";
import type { TransparentRequest, TransparentResult } from "./transparent-request.ts";

const [directory = "", serverProgram = "", location = "run"] = process.argv.slice(2);
const { allowed, secret, scripts } = JSON.parse(await text(process.stdin)) as TransparentRequest;
const provider = await openLocalProvider({ directory, path: process.env.PATH ?? "", serverProgram });
const { egress, obstacle } = await provider.capabilities();
const found: TransparentResult = { egress, obstacle, results: {}, denials: [], traffic: [] };
const onDenied = (denial: Denial) => void found.denials.push(denial);
if (obstacle === null) await runAll(await provider.create({ id: "one", layers: [], limits: unlimited }));
process.stdout.write(JSON.stringify(found), () => process.exit(0));

async function runAll(machine: Machine): Promise<void> {
  const { workspace, close } = await (location === "build" ? openBuild(machine) : openRun(machine));
  for (const [name, script] of Object.entries(scripts)) {
    const before = found.denials.length;
    const { code, output } = await sh(workspace, `exec 2>&1\n${script}`);
    found.results[name] = { code, output, denials: found.denials.slice(before) };
  }
  await close();
  await machine.remove();
}

async function openBuild(machine: Machine) {
  const supervisor = await machine.start({ allowed, denied: [], onDenied });
  const workspace = await openMachineWorkspace(supervisor, { root: "/", incarnation: "test", env: machineVariables });
  return { workspace, close: () => machine.stop() };
}

async function openRun(machine: Machine) {
  const root = join(directory, "workspace");
  mkdirSync(root, { recursive: true });
  const disk = await provider.mount(machine.id, { directories: [root], kept: [], limits: unlimited });
  if (disk.userId !== null) await giveFiles(root, disk.userId);
  const policy = sandboxPolicy({
    ...{ mode: "workspace-write", root, view: "system", shown: [root], network: "proxy", allowedDomains: allowed },
    placement: { directory: root, path: "/workspace" },
  });
  const workspace = await openWorkspace(policy, {
    ...{ serverProgram, env: machineVariables, incarnation: randomUUID(), onDenied, disk: async () => disk },
    onTraffic: (traffic) => void found.traffic.push(traffic),
    placeholders: secret && (await openPlaceholders(secret)),
  });
  return {
    workspace,
    async close() {
      await workspace.close();
      await disk.close();
    },
  };
}
