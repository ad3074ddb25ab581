// What the worker reports of its machine: little memory, and a process that hardly runs.
import { expect, test } from "vitest";
import { healthReader } from "../src/health.ts";
import { availableBytes } from "../src/memory.ts";

/** A machine of 1,000 bytes. */
function machine() {
  const state = { available: 500, nowMs: 0 };
  const read = healthReader({
    availableBytes: () => state.available,
    totalBytes: () => 1_000,
    now: () => state.nowMs,
  });
  const readAfter = (ms: number, available = 500) => {
    state.nowMs += ms;
    state.available = available;
    return read();
  };
  return { readAfter };
}

test("a machine with hardly any memory left is reported until there is some", () => {
  const { readAfter } = machine();
  expect([readAfter(1_000), readAfter(1_000, 29), readAfter(1_000, 31)]).toEqual(["well", "memory", "well"]);
});

test("a process that did not run for seconds is reported for a minute", () => {
  const { readAfter } = machine();
  expect([readAfter(1_500), readAfter(9_000), readAfter(1_000)]).toEqual(["well", "starved", "starved"]);
  const later = Array.from({ length: 60 }, () => readAfter(1_000));
  expect([later[0], later.at(-1)]).toEqual(["starved", "well"]);
});

const limited = { availableBytes: 10, limitBytes: 1_000, machineBytes: 8_000 };
const filesOf = (files: Record<string, string>) => (path: string) => files[path] ?? null;
const stat = "anon 500\ninactive_file 300\nactive_file 20\ntotal_inactive_file 400\n";
const v1Groups = "8:pids:/\n4:cpu,memory:/docker/1\n0::/\n";

test.each<[string, Record<string, string>, number]>([
  ["version 2", { "/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/memory.stat": stat }, 310],
  ["version 2, in a container", { "/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/memory.stat": stat }, 310],
  ["version 1", { "/proc/self/cgroup": v1Groups, "/sys/fs/cgroup/memory/docker/1/memory.stat": stat }, 410],
  ["version 1, in a container", { "/proc/self/cgroup": v1Groups, "/sys/fs/cgroup/memory/memory.stat": stat }, 410],
  ["no files", {}, 10],
])("under a limit, cached files that are not in use are available: %s", (_, files, expected) => {
  expect(availableBytes(limited, filesOf(files))).toBe(expected);
});

test("without a limit the machine itself has counted them, and no more is available than the limit", () => {
  const files = filesOf({ "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.stat": stat });
  for (const limitBytes of [0, 9_000]) expect(availableBytes({ ...limited, limitBytes }, files)).toBe(10);
  expect(availableBytes({ ...limited, availableBytes: 900 }, files)).toBe(1_000);
});

test("this machine can be read", () => {
  expect(["well", "memory", "starved"]).toContain(healthReader()());
});
