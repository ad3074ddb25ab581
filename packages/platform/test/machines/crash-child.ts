// Plays a server with machines, which the test kills, and the server after it, which cleans up.

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import type { Workspace } from "@agentcli/protocol";
import { findLeftovers, unlimited } from "@agentcli/testkit/machines";
import { giveFiles, openWorkspace, sandboxPolicy } from "@agentcli/workspace";
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
  return exec(
    await openMachineWorkspace(supervisor, { root: "/", incarnation: "test", env: machineVariables }),
    script,
  );
}

async function exec(workspace: Workspace, script: string): Promise<string> {
  let output = "";
  const start = { argv: ["/bin/sh", "-c", script] };
  const take = ({ text }: { text: string }) => {
    output += text;
  };
  await workspace.exec({ id: "script", start }, take, new AbortController().signal);
  return output;
}

const write = "echo text > /opt/file; sync; setsid sleep 1000 > /dev/null &";

/** What a server does with a machine. */
async function work(): Promise<void> {
  const kept = await provider.create({ id: keptId, layers: [], limits });
  await run(kept, write);
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

/** What it does for two runs of an agent: the disk is mounted, and a sandbox works in it. */
async function useMounted(): Promise<void> {
  const kept = await provider.create({ id: keptId, layers: [], limits });
  for (const script of [write, "cat /opt/file"]) {
    const root = join(directory, "workspaces", keptId);
    mkdirSync(root, { recursive: true });
    const disk = await provider.mount(kept.id, { directories: [root], kept: [], limits });
    if (disk.userId !== null) await giveFiles(root, disk.userId);
    const placement = { directory: root, path: "/workspace" };
    const policy = sandboxPolicy({ mode: "workspace-write", root, view: "system", shown: [root], placement });
    const options = { serverProgram, env: machineVariables, incarnation: randomUUID(), disk: async () => disk };
    const workspace = await openWorkspace(policy, options);
    await exec(workspace, script);
    process.stdout.write("started\n");
    await workspace.close();
    await disk.close();
  }
}

const activeFile = join(directory, "active.json");

/** What it does for a build, while the layers of an earlier one are active. */
async function build(): Promise<void> {
  const first = await provider.create({ id: cloneId, layers: [], limits });
  await run(first, write);
  await first.stop();
  const active = await first.snapshot();
  await first.remove();
  // As a database does.
  writeFileSync(`${activeFile}.new`, JSON.stringify(active), { flush: true });
  renameSync(`${activeFile}.new`, activeFile);
  execFileSync("sync", [directory]);
  process.stdout.write("active\n");
  const source = join(directory, "files/workspace");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "checked-out"), "");
  const archive = execFileSync("tar", ["--create", "--directory", join(directory, "files"), "workspace"]);
  const checkout = await provider.importBase(Readable.from([archive]));
  const next = await provider.create({ id: cloneId, layers: [checkout, ...active], limits });
  await run(next, "rm /opt/file; echo new > /opt/new; setsid sleep 1000 > /dev/null &");
  await next.stop();
  await next.snapshot();
  await next.remove();
}

/** What a machine from the active layers finds; null before there are any. */
async function readActive(): Promise<string | null> {
  if (!existsSync(activeFile)) return null;
  const layers = JSON.parse(readFileSync(activeFile, "utf8"));
  const machine = await provider.create({ id: keptId, layers, limits });
  const text = await run(machine, "cat /opt/file");
  await machine.remove();
  return text;
}

/** What is left before and after the only machine is removed, and what is on its disk. */
async function check(): Promise<void> {
  await provider.collect();
  const machines = await provider.list();
  const states = await Promise.all(machines.map((machine) => machine.state()));
  const kept = machines.find(({ id }) => id === keptId);
  const file = kept ? await run(kept, "cat /opt/file") : null;
  for (const machine of machines) await machine.remove();
  const active = await readActive();
  await provider.capabilities();
  const left = findLeftovers({ directory, ids, serverPid: Number(killedPid) });
  process.stdout.write(JSON.stringify({ states, file, active, left }));
}

const modes: Record<string, () => Promise<void>> = { check, build, mounted: useMounted };
const { obstacle } = await provider.capabilities();
if (mode === "probe") process.stdout.write(JSON.stringify(obstacle));
else await (modes[mode] ?? work)();
process.exit(0);
