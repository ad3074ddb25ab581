// The provider `local` keeps the contract of machines, for a server that runs as root and as an ordinary user; without machines
// the same attempts to escape are refused. Without SWEEP=full as one of both users, which differs each day.
import { execFile } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { sampleOf } from "@agentcli/testkit";
import { directoryScenarios, hostScenarios, machineScenarios, sandboxScenarios } from "@agentcli/testkit/machines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MachineCapabilities } from "../../src/machines/index.ts";
import { bundleInto } from "../harness/bundled.ts";

const isRoot = process.geteuid?.() === 0;
const unprivilegedId = 65534;
const users = isRoot ? ["root", "an ordinary user"] : ["an ordinary user"];
const run = promisify(execFile);

interface Found {
  capabilities: MachineCapabilities;
  failures: Record<string, string | null>;
}

describe.each(sampleOf(users, { every: users.length }))("machines of a server that runs as %s", (user) => {
  const directory = mkdtempSync("/var/tmp/machines-");
  let [found, inSandbox, onHost]: Found[] = [];

  beforeAll(async () => {
    chmodSync(directory, 0o755);
    const [data, programs] = [join(directory, "data"), join(directory, "programs")];
    mkdirSync(data, { mode: 0o700 });
    cpSync(join(import.meta.dirname, "../../dist"), programs, { recursive: true });
    const child = await bundleInto(directory, "machines/machine-child.ts");
    const drops = isRoot && user === "an ordinary user";
    if (drops) chownSync(data, unprivilegedId, unprivilegedId);
    const lowered = ["setpriv", `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, "--clear-groups", "--"];
    const server = join(programs, "workspace-server.cjs");
    const runIn = async (location: string): Promise<Found> => {
      const [program = "", ...args] = [...(drops ? lowered : []), process.execPath, child, data, server, location];
      const { stdout } = await run(program, args, { cwd: "/", env: { PATH: process.env.PATH }, maxBuffer: 2 ** 24 });
      return JSON.parse(stdout);
    };
    found = await runIn("machine");
    inSandbox = await runIn("sandbox");
    onHost = await runIn("host");
    // On a busy machine they took more than four minutes.
  }, 1_200_000);
  // Files of other users and of no rights are among them.
  afterAll(() => run("unshare", [...(isRoot ? [] : ["--user", "--map-root-user"]), "rm", "-rf", directory]));

  test.each(Object.keys({ ...machineScenarios, ...directoryScenarios }))("%s", (name) => {
    expect(found?.failures[name]).toBe(null);
  });

  test.each(Object.keys(sandboxScenarios))("in the sandbox of a run: %s", (name) => {
    expect(inSandbox?.failures[name]).toBe(null);
  });

  test.each(Object.keys(hostScenarios))("on the host, where there is no machine: %s", (name) => {
    expect(onHost?.failures[name]).toBe(null);
  });

  test("say what is enforced", () => {
    if (found === undefined) return expect.fail("The scenarios did not run.");
    const { obstacle, kernel, users: ids, limits } = found.capabilities;
    expect(kernel).toBe("shared");
    if (obstacle !== null) expect(obstacle).toContain("Machines cannot be made here: ");
    if (user === "an ordinary user") expect({ ids, ...limits }).toMatchObject({ ids: "single", disk: "nothing" });
    else expect(["own-range", "shared-range"]).toContain(ids);
  });
});
