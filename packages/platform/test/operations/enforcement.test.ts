// What `platform doctor` says about the limits of agents, with and without control groups.
import { expect, test } from "vitest";
import { describeEnforcement } from "../../src/commands/server/enforcement.ts";

const gibibyte = 1024 ** 3;
const limits = { temporaryBytes: 2 * gibibyte, diskBytes: 20 * gibibyte };
const reportBy = <Enforcer extends string>(by: Enforcer) => ({
  memory: { bytes: 4 * gibibyte, by },
  processes: { count: 4096, by },
});

test("with control groups the limits are in force for an agent as a whole", () => {
  const { verdict, text } = describeEnforcement(limits, reportBy("cgroup-v2"));
  expect(verdict).toBe("fine");
  expect(text).toContain("memory 4 GiB (all commands of an agent together, by cgroup-v2)");
  expect(text).toContain("processes 4096 (all commands of an agent together, by cgroup-v2)");
});

test("without control groups doctor does not say ok, but what each limit applies to", () => {
  const { verdict, text } = describeEnforcement(limits, reportBy("rlimit"));
  expect(verdict).toBe("note");
  expect(text).toContain("memory 4 GiB (each process by itself, by rlimit");
  expect(text).toContain("processes 4096 (all processes of the same user together, by rlimit");
  expect(text).toContain("Agents are not limited as a whole");
});

test("a limit that nothing enforces is reported as not enforced", () => {
  const { memory } = reportBy("rlimit");
  const { processes } = reportBy("nothing");
  const { verdict, text } = describeEnforcement(limits, { memory, processes });
  expect([verdict, text]).toEqual(["note", expect.stringContaining("processes 4096 (not enforced)")]);
});
