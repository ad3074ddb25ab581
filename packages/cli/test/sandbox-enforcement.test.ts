// What `agentcli sandbox probe` says about limits, by what enforces them.
import { expect, test } from "vitest";
import { describeEnforcement } from "../src/commands/sandbox/enforcement.ts";

const report = (memory: "cgroup-v2" | "rlimit" | "nothing", processes = memory) =>
  describeEnforcement({ memory: { bytes: 1, by: memory }, processes: { count: 1, by: processes } });

test("with control groups, the limits count all commands together", () => {
  expect(report("cgroup-v2")).toEqual([
    "limits.memory: all commands of a thread together, by cgroup-v2",
    "limits.processes: all commands of a thread together, by cgroup-v2",
  ]);
});

test("without control groups, it says that memory is limited per process and processes per user, or not at all", () => {
  const without = expect.stringContaining("not enforced: commands are not limited as a whole");
  expect(report("rlimit")).toEqual([
    expect.stringContaining("limits.memory: only each process by itself, by rlimit"),
    expect.stringContaining("limits.processes: only all processes of your user together, by rlimit"),
    without,
  ]);
  expect(report("rlimit", "nothing")).toEqual([
    expect.stringContaining("only each process"),
    "limits.processes: not enforced",
    without,
  ]);
});
