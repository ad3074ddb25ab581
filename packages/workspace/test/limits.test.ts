// What a sandbox may use up: met limits are told, the machine survives, and nothing is left of the control groups.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OpenedWorkspace } from "../src/client/lazy.ts";
import { openCgroup } from "../src/limits/cgroup.ts";
import { findTrees } from "../src/limits/cgroup-trees.ts";
import { describeLimits, openLimits, type ResourceLimits } from "../src/limits/limits.ts";
import { openSandbox } from "../src/sandbox/launch.ts";
import { sandboxPolicy } from "../src/sandbox/policy.ts";
import { bash, exec, freshId } from "./commands.ts";
import { temporaryDirectory, toolEnv } from "./places.ts";
import { serverProgram } from "./server-program.ts";

let base = "";
let workspace: OpenedWorkspace | undefined;
beforeEach(() => {
  base = temporaryDirectory();
});
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
  rmSync(base, { recursive: true, force: true });
});

async function open(limits: Partial<ResourceLimits>): Promise<OpenedWorkspace> {
  const policy = sandboxPolicy({ mode: "workspace-write", root: base });
  const options = { serverProgram: await serverProgram(), env: toolEnv(), incarnation: randomUUID() };
  workspace = await openSandbox(policy, { ...options, limits: { memoryBytes: null, processes: null, ...limits } });
  return workspace;
}

/** Our groups anywhere in the control group file systems. */
function groupsLeft(): string[] {
  const name = `agentcli-${process.pid}-`;
  return findTrees({
    mounts: readFileSync("/proc/self/mountinfo", "utf8"),
    memberships: readFileSync("/proc/self/cgroup", "utf8"),
  })
    .flatMap(({ places }) => places)
    .flatMap((place) => (existsSync(place) ? readdirSync(place) : []))
    .filter((entry) => entry.startsWith(name));
}

const mebibyte = 1024 * 1024;

describe("in a sandbox", () => {
  test("a command that takes too much memory is ended and told why, and the next one runs", async () => {
    const inside = await open({ memoryBytes: 300 * mebibyte });
    const hog = `perl -e '$x = "x" x (700 * 1024 * 1024); print length $x'`;
    const told = await bash(inside, `${hog}; exit $?`);
    expect(told.result).not.toMatchObject({ exitCode: 0 });
    expect(told.stdout).toBe("");
    // Perl itself says so where no control group could be had.
    expect(told.stderr).toMatch(/reached its memory limit of 300 MiB \(limits\.memory\)|Out of memory/);
    expect((await bash(inside, "echo alive")).stdout).toBe("alive\n");
  });

  test("many small commands that take too much together are told why, whoever the kernel ends", async () => {
    const inside = await open({ memoryBytes: 300 * mebibyte });
    const small = `perl -e '$x = "x" x (30 * 1024 * 1024); sleep 1'`;
    const script = `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ${small} & done; wait`;
    const told = await bash(inside, script).then(({ stderr }) => stderr, String);
    expect(told).toContain("The sandbox reached its memory limit of 300 MiB (limits.memory)");
  });

  test("a flood of processes is stopped at the limit, told, and ends with its command", async () => {
    const inside = await open({ processes: 60 });
    const id = freshId();
    // Bounded by itself as well: at most 300, each gone after some seconds.
    const flood = "for i in $(seq 300); do sleep 2 & done 2>&1 | head -c 300; exit 3";
    const told = await exec(inside, { id, start: { argv: ["bash", "-c", flood], timeoutMs: 30_000 } });
    expect(told.all).toMatch(/Resource temporarily unavailable/);
    expect(told.stderr).toContain("limit of 60 processes and threads (limits.processes)");
    const again = await exec(inside, { id });
    expect(again.stderr).toBe(told.stderr);
    expect(again.result).toEqual(told.result);
    await inside.release([]);
    expect((await bash(inside, "echo alive")).stdout).toBe("alive\n");
  });

  test("commands cannot lift their limits", async () => {
    const inside = await open({ processes: 100 });
    const told = await bash(
      inside,
      "find /sys/fs/cgroup -name 'pids.max' 2>/dev/null | while read f; do echo max > $f && echo LIFTED; done 2>&1 | grep LIFTED",
    );
    expect(told.stdout).toBe("");
  });

  test("nothing is left of the groups, also when the sandbox could not be started", async () => {
    const inside = await open({ memoryBytes: 500 * mebibyte, processes: 200 });
    await bash(inside, "sleep 100 & sleep 100 & true");
    await inside.close();
    const options = { serverProgram: join(base, "missing.cjs"), env: toolEnv(), incarnation: "none" };
    const limits = { memoryBytes: 500 * mebibyte, processes: 200 };
    await expect(
      openSandbox(sandboxPolicy({ mode: "read-only", root: base }), { ...options, limits }),
    ).rejects.toThrow();
    expect(groupsLeft()).toEqual([]);
  });
});

describe("the report", () => {
  test("says who enforces what, and leaves nothing", async () => {
    const report = await describeLimits({ memoryBytes: 100 * mebibyte, processes: null });
    expect(report.memory).toMatchObject({
      bytes: 100 * mebibyte,
      by: expect.stringMatching(/^(cgroup-v[12]|rlimit)$/),
    });
    expect(report.processes).toEqual({ count: null, by: "nothing" });
    expect(groupsLeft()).toEqual([]);
  });

  test("without control groups each process is limited by itself, and nothing that is not limited is claimed", async () => {
    const limits = openLimits({ memoryBytes: 64 * mebibyte, processes: 500 }, { mounts: "", memberships: "" });
    expect(limits.report.memory.by).toBe("rlimit");
    expect(limits.report.processes.by).toBe(process.geteuid?.() === 0 ? "nothing" : "rlimit");
    const { program, argv } = limits.enter("/bin/sh", ["-c", 'ulimit -d; echo "$0" "$@"', "a b", "c"]);
    const { execFileSync } = await import("node:child_process");
    expect(execFileSync(program, argv, { encoding: "utf8" })).toBe("65536\na b c\n");
    expect(limits.newlyMet()).toEqual([]);
  });

  test("without limits the program is started as it is", () => {
    const limits = openLimits({ memoryBytes: null, processes: null });
    expect(limits.enter("/bin/x", ["y"])).toEqual({ program: "/bin/x", argv: ["y"] });
  });
});

describe("the trees of control groups", () => {
  const line = (root: string, point: string, type: string, options: string) =>
    `30 20 0:30 ${root} ${point} rw,relatime - ${type} ${type} rw,${options}`;

  test("version 1 has one for each controller, with our own path in it", () => {
    const mounts = [
      line("/", "/cg/memory", "cgroup", "memory"),
      line("/", "/cg/pids", "cgroup", "pids"),
      line("/", "/cg/unified", "cgroup2", ""),
    ].join("\n");
    expect(findTrees({ mounts, memberships: "4:memory:/a/b\n8:pids:/\n0::/\n" })).toEqual([
      { version: 1, controller: "memory", places: ["/cg/memory/a/b"] },
      { version: 1, controller: "pids", places: ["/cg/pids"] },
    ]);
  });

  test("version 2 has one for all, where a neighbour may do when no child can be had", () => {
    const mounts = line("/", "/sys/fs/cgroup", "cgroup2", "nsdelegate");
    expect(findTrees({ mounts, memberships: "0::/user.slice/app.slice/term.scope\n" })[1]).toEqual({
      version: 2,
      controller: "pids",
      places: ["/sys/fs/cgroup/user.slice/app.slice/term.scope", "/sys/fs/cgroup/user.slice/app.slice"],
    });
    expect(findTrees({ mounts, memberships: "0::/\n" })[0]?.places).toEqual(["/sys/fs/cgroup"]);
  });

  test("a container that shows a part of the tree is understood; no mount, no tree", () => {
    const mounts = line("/docker/abc", "/sys/fs/cgroup/pids", "cgroup", "pids");
    expect(findTrees({ mounts, memberships: "8:pids:/docker/abc/x\n" })[0]?.places).toEqual(["/sys/fs/cgroup/pids/x"]);
    expect(findTrees({ mounts, memberships: "8:pids:/elsewhere\n" })[0]?.places).toEqual(["/sys/fs/cgroup/pids"]);
    expect(findTrees({ mounts: "", memberships: "" })).toEqual([]);
  });
});

describe("a group of version 2", () => {
  /** The files the kernel would make, in a directory of ours. */
  function tree(passedOn: string, name: string): { place: string; group: string } {
    const place = join(base, "parent");
    const group = join(place, name);
    mkdirSync(group, { recursive: true });
    writeFileSync(join(place, "cgroup.subtree_control"), passedOn);
    writeFileSync(join(place, "cgroup.procs"), "");
    for (const file of ["memory.max", "memory.swap.max", "pids.max", "cgroup.procs"])
      writeFileSync(join(group, file), "max\n");
    writeFileSync(join(group, "memory.events"), "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
    writeFileSync(join(group, "pids.events"), "max 7\n");
    return { place, group };
  }

  test("is limited, without swap, and counts", () => {
    const { place, group } = tree("cpu memory pids\n", "agentcli-1-x");
    const places = [join(base, "own"), place];
    const memory = openCgroup({ version: 2, controller: "memory", places }, 1000, "agentcli-1-x");
    const pids = openCgroup({ version: 2, controller: "pids", places }, 50, "agentcli-1-x");
    expect(
      ["memory.max", "memory.swap.max", "pids.max"].map((file) => readFileSync(join(group, file), "utf8").trim()),
    ).toEqual(["1000", "0", "50"].map((value) => expect.stringMatching(`^${value}`)));
    expect([memory?.timesMet(), pids?.timesMet()]).toEqual([2, 7]);
    expect(memory?.membersFile).toBe(join(group, "cgroup.procs"));
  });

  test("is not made where the controller is not passed on", () => {
    const { place } = tree("cpu\n", "agentcli-1-x");
    expect(openCgroup({ version: 2, controller: "memory", places: [place] }, 1000, "fresh")).toBeUndefined();
    expect(existsSync(join(place, "fresh"))).toBe(false);
  });

  test("one that a killed run has left is removed, one of a living is not", () => {
    const { place } = tree("memory\n", "agentcli-1-x");
    const gone = join(place, "agentcli-999999999-left");
    const alive = join(place, `agentcli-${process.pid}-mine`);
    for (const path of [gone, alive]) mkdirSync(path);
    openCgroup({ version: 2, controller: "memory", places: [place] }, 1000, "agentcli-1-x");
    expect([existsSync(gone), existsSync(alive)]).toEqual([false, true]);
  });
});
