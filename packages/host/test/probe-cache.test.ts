import type { SandboxProbe } from "@agentcli/workspace";
import { expect, test } from "vitest";
import { openProbeCache } from "../src/index.ts";

const unavailable: SandboxProbe = { kind: "unavailable", reason: "bwrap is missing.", remedy: "Install bubblewrap." };
const available: SandboxProbe = {
  kind: "available",
  backEnd: { kind: "bubblewrap", program: "/bin/bwrap", processes: "own" },
  shortfalls: [],
};

test("a probe that failed or found no sandbox is repeated, a success is remembered for its key", async () => {
  const probes = openProbeCache();
  const answers = [Promise.reject(new Error("out of processes")), unavailable, available, unavailable];
  const probe = async () => answers.shift() ?? unavailable;
  await expect(probes("here", probe)).rejects.toThrow("out of processes");
  expect(await Promise.all([probes("here", probe), probes("here", probe)])).toEqual([unavailable, unavailable]);
  expect(await probes("here", probe)).toEqual(available);
  expect(await probes("here", probe)).toEqual(available);
  expect(await probes("elsewhere", probe)).toEqual(unavailable);
});
