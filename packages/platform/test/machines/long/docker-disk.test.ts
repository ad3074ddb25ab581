// The disk of a machine of Docker stays whole when its container cannot be made anew, and leaves nothing when it goes.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DockerDaemon, startDockerDaemon, unlimited } from "@agentcli/testkit/machines";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MachineProvider, openDockerProvider } from "../../../src/machines/index.ts";

const serverProgram = join(import.meta.dirname, "../../../dist/workspace-server.cjs");
const directory = mkdtempSync("/var/tmp/docker-disk-");
const run = promisify(execFile);
let daemon: DockerDaemon;
let provider: MachineProvider;

beforeAll(async () => {
  daemon = await startDockerDaemon();
  const options = { directory, path: process.env.PATH ?? "", serverProgram, socketPath: daemon.socketPath };
  provider = await openDockerProvider(options);
}, 120_000);

afterAll(async () => {
  await daemon.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const docker = async (...args: string[]) =>
  (await run("docker", ["--host", `unix://${daemon.socketPath}`, ...args])).stdout.trim();

/** The container that has the disk. */
async function containerOf(id: string): Promise<string> {
  const name = (await daemon.containers()).find((each) => each.endsWith(`-${id}`));
  return name?.slice(1) ?? expect.fail(`${id} has no container: ${await daemon.containers()}`);
}

/** Each has a directory of its own, so that its container is made anew. */
async function use(
  id: string,
  { name, command = "true", cpus = null }: { name: string; command?: string; cpus?: number | null },
) {
  const shown = join(directory, name);
  mkdirSync(shown, { recursive: true });
  const mounted = await provider.mount(id, { directories: [shown], kept: [], limits: { ...unlimited, cpus } });
  try {
    return await docker("exec", await containerOf(id), "/bin/sh", "-c", command);
  } finally {
    await mounted.close();
  }
}

const images = async () => (await docker("images", "--all", "--quiet")).split("\n").length;

test("a machine whose container the daemon refuses to make anew keeps its disk", async () => {
  await provider.create({ id: "refused", layers: [], limits: unlimited });
  await use("refused", { name: "one", command: "echo kept > /var/own" });
  await expect(use("refused", { name: "two", cpus: 4_096 })).rejects.toThrow(/The Docker daemon refused: /);
  expect(await use("refused", { name: "two", command: "cat /var/own" })).toBe("kept");
});

test("a move of a disk that was cut short between two containers goes on with the new one", async () => {
  await provider.create({ id: "cut", layers: [], limits: unlimited });
  await use("cut", { name: "one", command: "echo kept > /var/own" });
  const name = await containerOf("cut");
  await docker("rename", name, `${name}.next`);
  await provider.collect();
  expect(await use("cut", { name: "one", command: "cat /var/own" })).toBe("kept");
  expect(await containerOf("cut")).toBe(name);
});

test("a machine whose container was removed says that its disk is lost, and is not begun anew", async () => {
  await provider.create({ id: "pruned", layers: [], limits: unlimited });
  await use("pruned", { name: "one" });
  await docker("rm", await containerOf("pruned"));
  await expect(use("pruned", { name: "one" })).rejects.toThrow(/which had the disk of pruned/);
  expect((await daemon.containers()).filter((name) => name.endsWith("-pruned"))).toEqual([]);
});

test("a disk that has moved counts whole, and a machine that is removed leaves no image", async () => {
  const machine = await provider.create({ id: "moved", layers: [], limits: unlimited });
  const before = await images();
  await use("moved", { name: "one", command: "head -c 3000000 /dev/zero > /var/own" });
  await use("moved", { name: "two", command: "head -c 2000000 /dev/zero > /var/other" });
  await use("moved", { name: "three" });
  expect((await machine.stats()).diskBytes).toBeGreaterThanOrEqual(5_000_000);
  expect(await images()).toBeGreaterThan(before);
  await machine.remove();
  expect(await images()).toBe(before);
  expect((await daemon.containers()).filter((name) => name.includes("-moved"))).toEqual([]);
});

test("a machine that was set aside is not there for another one with its id", async () => {
  const machine = await provider.create({ id: "aside", layers: [], limits: unlimited });
  await use("aside", { name: "one", command: "echo old > /var/own" });
  const remove = await machine.setAside();
  await provider.create({ id: "aside", layers: [], limits: unlimited });
  expect(await use("aside", { name: "one", command: "test -e /var/own || echo new > /var/own; cat /var/own" })).toBe(
    "new",
  );
  await remove();
  expect(await use("aside", { name: "one", command: "cat /var/own" })).toBe("new");
});
