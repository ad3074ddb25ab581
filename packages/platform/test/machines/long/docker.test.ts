// The provider `docker` keeps the contract of machines, against a real daemon, and runs of agents work in its machines.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { call, replyWith } from "@agentcli/testkit";
import { type DockerDaemon, machineScenarios, sandboxScenarios, startDockerDaemon } from "@agentcli/testkit/machines";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "../../../src/foundation/config/index.ts";
import { type MachineCapabilities, openDockerProvider, reportMachines } from "../../../src/machines/index.ts";
import { bundleInto } from "../../harness/bundled.ts";
import { openRunHarness } from "../../runs/run-harness.ts";

const run = promisify(execFile);
const programDirectory = join(import.meta.dirname, "../../../dist");
const serverProgram = join(programDirectory, "workspace-server.cjs");

interface Found {
  capabilities: MachineCapabilities;
  failures: Record<string, string | null>;
}

let daemon: DockerDaemon;
let [found, inSandbox]: Found[] = [];
const directory = mkdtempSync("/var/tmp/machines-");

beforeAll(async () => {
  daemon = await startDockerDaemon();
  const child = await bundleInto(directory, "machines/machine-child.ts");
  const data = join(directory, "data");
  mkdirSync(data, { mode: 0o700 });
  const runIn = async (location: string): Promise<Found> => {
    const args = [child, data, serverProgram, location, daemon.socketPath];
    const { stdout } = await run(process.execPath, args, {
      cwd: "/",
      env: { PATH: process.env.PATH },
      maxBuffer: 2 ** 24,
    });
    return JSON.parse(stdout);
  };
  found = await runIn("machine");
  inSandbox = await runIn("sandbox");
}, 600_000);

afterAll(async () => {
  await daemon.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

test.each(Object.keys(machineScenarios))("in a container: %s", (name) => {
  expect(found?.failures[name]).toBe(null);
});

test.each(Object.keys(sandboxScenarios))("in the sandbox of a run in a container: %s", (name) => {
  expect(inSandbox?.failures[name]).toBe(null);
});

test("machines that were removed leave no container", async () => {
  expect(await daemon.containers()).toEqual([]);
});

test("commands of a run are root of a container whose disk stays for the next run and goes with the agent", async () => {
  const shell = (cmd: string) => call("exec_command", { cmd });
  const machines: Settings["machines"] = {
    ...{ provider: "docker", dockerSocket: daemon.socketPath, diskBudget: "off", cpus: 1, idleMs: 0 },
  };
  const harness = await openRunHarness({
    replies: [
      shell(
        "id -u; pwd; echo text > /etc/own.conf; echo file > file.txt; git commit --quiet --allow-empty --message=Made",
      ),
      replyWith("First."),
      shell("cat /etc/own.conf file.txt; git log --format=%s"),
      replyWith("Second."),
    ],
    settings: { machines, programDirectory },
  });
  const { client } = harness;
  const url = await harness.repository("shop", { "a.txt": "a\n" });
  const output = async (ids: { agentId: string; runId: string }) => {
    const frames = await client.stream(ids);
    return JSON.stringify(frames.filter(({ event }) => event === "tool_call"));
  };
  const first = await client.create({ prompt: { text: "begin" }, repos: [{ url }] });
  expect(await output(first)).toContain("0\\n/workspace/shop\\n");
  expect(await client.read(first)).toMatchObject({ status: "FINISHED", machine: { provider: "docker" } });
  const { settings } = harness.fixture.platform;
  await expect.poll(async () => (await reportMachines(settings))[0]?.state).toBe("stopped");
  const second = await client.followUp(first.agentId, { prompt: { text: "and?" } });
  expect(await output(second)).toContain("text\\nfile\\nFirst.\\nMade\\n");
  await expect.poll(async () => (await reportMachines(settings))[0]?.state).toBe("stopped");
  await client.send("DELETE", `/v1/agents/${first.agentId}`);
  expect(await daemon.containers()).toEqual([]);
}, 120_000);

test("a daemon whose containers have root of the host makes no machine, and says what to change", async () => {
  const unmapped = await startDockerDaemon({ mapped: false });
  try {
    const options = { directory: join(directory, "unmapped"), path: process.env.PATH ?? "", serverProgram };
    const provider = await openDockerProvider({ ...options, socketPath: unmapped.socketPath });
    const limits = { memoryBytes: null, cpus: null, processes: null, diskBytes: null, temporaryBytes: null };
    await expect(provider.create({ id: "one", layers: [], limits })).rejects.toThrow(/"userns-remap": "default"/);
    expect(await unmapped.containers()).toEqual([]);
  } finally {
    await unmapped.stop();
  }
}, 60_000);
