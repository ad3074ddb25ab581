// Resource limits of a sandbox: reached limits are reported, the machine survives, and no control group is left.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OpenedWorkspace } from "../../src/lifecycle/lazy.ts";
import { openCgroup } from "../../src/limits/cgroup.ts";
import { findTrees } from "../../src/limits/cgroup-trees.ts";
import { describeLimits, noLimits, openLimits, type ResourceLimits } from "../../src/limits/limits.ts";
import type { BackEnd } from "../../src/sandbox/back-end.ts";
import { openSandbox } from "../../src/sandbox/launch.ts";
import { sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash, exec, freshId } from "../support/commands.ts";
import { temporaryDirectory, toolEnv } from "../support/locations.ts";
import { serverProgram } from "../support/server-program.ts";

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

async function open(limits: Partial<ResourceLimits>, backEnd?: BackEnd): Promise<OpenedWorkspace> {
  const policy = sandboxPolicy({ mode: "workspace-write", root: base });
  const options = { serverProgram: await serverProgram(), env: toolEnv(), incarnation: randomUUID() };
  const all = { ...noLimits, ...limits };
  workspace = await openSandbox(policy, { ...options, limits: all, ...(backEnd && { backEnd }) });
  return workspace;
}

/** This process's groups anywhere in the control group file systems. */
function remainingGroups(): string[] {
  const name = `agentcli-${process.pid}-`;
  return findTrees({
    mounts: readFileSync("/proc/self/mountinfo", "utf8"),
    memberships: readFileSync("/proc/self/cgroup", "utf8"),
  })
    .flatMap(({ parents }) => parents)
    .flatMap((parent) => (existsSync(parent) ? readdirSync(parent) : []))
    .filter((entry) => entry.startsWith(name));
}

const mebibyte = 1024 * 1024;

describe("in a sandbox", () => {
  test("a command that takes too much memory is ended with the reason, and the next one runs", async () => {
    const inside = await open({ memoryBytes: 300 * mebibyte });
    const hog = `perl -e '$x = "x" x (700 * 1024 * 1024); print length $x'`;
    const output = await bash(inside, `${hog}; exit $?`);
    expect(output.result).not.toMatchObject({ exitCode: 0 });
    expect(output.stdout).toBe("");
    // Without a control group Perl reports it itself.
    expect(output.stderr).toMatch(/reached its memory limit of 300 MiB \(limits\.memory\)|Out of memory/);
    expect((await bash(inside, "echo alive")).stdout).toBe("alive\n");
  });

  test("many small commands that exceed the limit together get the reason, whichever process the kernel ends", async () => {
    const inside = await open({ memoryBytes: 300 * mebibyte });
    const small = `perl -e '$x = "x" x (30 * 1024 * 1024); sleep 1'`;
    const script = `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ${small} & done; wait`;
    const output = await bash(inside, script).then(({ stderr }) => stderr, String);
    const { memory } = await describeLimits({ ...noLimits, memoryBytes: 300 * mebibyte });
    // Without a control group each process has the whole limit for itself.
    if (memory.by === "rlimit") expect(output).toBe("");
    else expect(output).toContain("The sandbox reached its memory limit of 300 MiB (limits.memory)");
  });

  test("a flood of processes is stopped at the limit, reported, and ends with its command", async () => {
    const inside = await open({ processes: 60 });
    const id = freshId();
    // Bounded without a limit as well: at most 300, each for 2 seconds.
    const flood = "for i in $(seq 300); do sleep 2 & done 2>&1 | head -c 300; exit 3";
    const output = await exec(inside, { id, start: { argv: ["bash", "-c", flood], timeoutMs: 30_000 } });
    expect(output.all).toMatch(/Resource temporarily unavailable/);
    const { processes } = await describeLimits({ ...noLimits, processes: 60 });
    // Without a control group nothing counts how often the limit is reached: the program's own message has to do.
    if (processes.by === "rlimit") expect(output.stderr).toBe("");
    else expect(output.stderr).toContain("limit of 60 processes and threads (limits.processes)");
    const again = await exec(inside, { id });
    expect(again.stderr).toBe(output.stderr);
    expect(again.result).toEqual(output.result);
    await inside.release([]);
    // Processes that are ending still count where no control group does.
    await expect.poll(async () => (await bash(inside, "echo alive")).stdout).toBe("alive\n");
  });

  test("the private /tmp and a single file are limited in size", async () => {
    const inside = await open({ temporaryBytes: 8 * mebibyte, fileBytes: 4 * mebibyte });
    const fill = (file: string, megabytes: number) => `head -c ${megabytes}M /dev/zero > ${file}; echo`;
    await bash(inside, fill("/tmp/small", 3));
    expect((await bash(inside, fill("/tmp/other", 3))).stderr).toBe("");
    expect((await bash(inside, fill("/tmp/third", 3))).stderr).toContain("No space left on device");
    await bash(inside, fill("large", 6));
    expect((await bash(inside, "stat -c %s large")).stdout).toBe(`${4 * mebibyte}\n`);
  });

  test("all private directories together hold no more than their limit", async () => {
    const inside = await open({ temporaryBytes: 16 * mebibyte });
    const { stdout, stderr } = await bash(
      inside,
      "for d in /tmp /run /dev/shm; do head -c 32M /dev/zero > $d/large; done; cat /tmp/large /run/large /dev/shm/large | wc -c",
    );
    expect(stderr.match(/No space left on device/g)).toHaveLength(3);
    expect(Number(stdout)).toBeLessThanOrEqual(16 * mebibyte);
    expect(Number(stdout)).toBeGreaterThan(15 * mebibyte);
  });

  test("of Landlock, memory and a single file are limited too, and cannot be raised", async () => {
    const inside = await open({ memoryBytes: 300 * mebibyte, fileBytes: mebibyte }, { kind: "landlock", version: 7 });
    const hog = `perl -e '$x = "x" x (700 * 1024 * 1024); print "TA", "KEN"'`;
    const { all } = await bash(inside, `${hog}; head -c 2M /dev/zero > big; ulimit -f unlimited; wc -c < big`);
    expect(all).not.toContain("TAKEN");
    expect(all).toContain("cannot modify limit");
    expect(all).toContain(`\n${mebibyte}\n`);
  });

  test("commands cannot raise their limits", async () => {
    const inside = await open({ processes: 100 });
    const output = await bash(
      inside,
      "find /sys/fs/cgroup -name 'pids.max' 2>/dev/null | while read f; do echo max > $f && echo LIFTED; done 2>&1 | grep LIFTED",
    );
    expect(output.stdout).toBe("");
  });

  test("no control group is left, also when the sandbox could not be started", async () => {
    const inside = await open({ memoryBytes: 500 * mebibyte, processes: 200 });
    await bash(inside, "sleep 100 & sleep 100 & true");
    await inside.close();
    const options = { serverProgram: join(base, "missing.cjs"), env: toolEnv(), incarnation: "none" };
    const limits = { ...noLimits, memoryBytes: 500 * mebibyte, processes: 200 };
    await expect(
      openSandbox(sandboxPolicy({ mode: "read-only", root: base }), { ...options, limits }),
    ).rejects.toThrow();
    expect(remainingGroups()).toEqual([]);
  });
});

describe("the report", () => {
  test("names what enforces each limit, and leaves no control group", async () => {
    const report = await describeLimits({ ...noLimits, memoryBytes: 100 * mebibyte });
    expect(report.memory).toMatchObject({
      bytes: 100 * mebibyte,
      by: expect.stringMatching(/^(cgroup-v[12]|rlimit)$/),
    });
    expect(report.processes).toEqual({ count: null, by: "nothing" });
    expect(remainingGroups()).toEqual([]);
  });

  test("without control groups each process is limited separately, and only enforced limits are reported", async () => {
    const limits = openLimits(
      { ...noLimits, memoryBytes: 64 * mebibyte, processes: 500 },
      { mounts: "", memberships: "" },
    );
    expect(limits.report.memory.by).toBe("rlimit");
    expect(limits.report.processes.by).toBe(process.geteuid?.() === 0 ? "nothing" : "rlimit");
    const { program, argv } = limits.enter("/bin/sh", ["-c", 'ulimit -d; echo "$0" "$@"', "a b", "c"]);
    const { execFileSync } = await import("node:child_process");
    expect(execFileSync(program, argv, { encoding: "utf8" })).toBe("65536\na b c\n");
    expect(limits.newlyReached()).toEqual([]);
  });

  test("without control groups the processes of a sandbox's own user are limited, also where root starts it", async () => {
    const userId = 1_912_345_678;
    const limits = openLimits({ ...noLimits, processes: 20, userId }, { mounts: "", memberships: "" });
    expect(limits.report.processes).toEqual({ count: 20, by: "rlimit" });
    const flood = "for i in $(seq 600); do sleep 5 & done; wait";
    // Only root can become another user; the limit of anyone else counts all that they run already.
    const change = process.geteuid?.() === 0 ? [`--reuid=${userId}`, "--clear-groups"] : [];
    const { program, argv } = limits.enter("/usr/bin/setpriv", [...change, "--pdeathsig=KILL", "/bin/sh", "-c", flood]);
    const { spawnSync } = await import("node:child_process");
    const { stderr } = spawnSync(program, argv, { encoding: "utf8" });
    expect(stderr).toMatch(/Cannot fork|Resource temporarily unavailable/);
  });

  test("without limits the program is started as it is", () => {
    const limits = openLimits(noLimits);
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
      { version: 1, controller: "memory", parents: ["/cg/memory/a/b"] },
      { version: 1, controller: "pids", parents: ["/cg/pids"] },
    ]);
  });

  test("version 2 has one for all, where a sibling is used when no child can be created", () => {
    const mounts = line("/", "/sys/fs/cgroup", "cgroup2", "nsdelegate");
    expect(findTrees({ mounts, memberships: "0::/user.slice/app.slice/term.scope\n" })[1]).toEqual({
      version: 2,
      controller: "pids",
      parents: ["/sys/fs/cgroup/user.slice/app.slice/term.scope", "/sys/fs/cgroup/user.slice/app.slice"],
    });
    expect(findTrees({ mounts, memberships: "0::/\n" })[0]?.parents).toEqual(["/sys/fs/cgroup"]);
  });

  test("a container that mounts a part of the tree is supported; no mount, no tree", () => {
    const mounts = line("/docker/abc", "/sys/fs/cgroup/pids", "cgroup", "pids");
    expect(findTrees({ mounts, memberships: "8:pids:/docker/abc/x\n" })[0]?.parents).toEqual(["/sys/fs/cgroup/pids/x"]);
    expect(findTrees({ mounts, memberships: "8:pids:/elsewhere\n" })[0]?.parents).toEqual(["/sys/fs/cgroup/pids"]);
    expect(findTrees({ mounts: "", memberships: "" })).toEqual([]);
  });
});

describe("a group of version 2", () => {
  /** The files the kernel would create, in a temporary directory. */
  function tree(delegated: string, name: string): { parent: string; group: string } {
    const parent = join(base, "parent");
    const group = join(parent, name);
    mkdirSync(group, { recursive: true });
    writeFileSync(join(parent, "cgroup.subtree_control"), delegated);
    writeFileSync(join(parent, "cgroup.procs"), "");
    for (const file of ["memory.max", "memory.swap.max", "pids.max", "cgroup.procs"])
      writeFileSync(join(group, file), "max\n");
    writeFileSync(join(group, "memory.events"), "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
    writeFileSync(join(group, "pids.events"), "max 7\n");
    return { parent, group };
  }

  test("is limited, without swap, and counts", () => {
    const { parent, group } = tree("cpu memory pids\n", "agentcli-1-x");
    const parents = [join(base, "own"), parent];
    const memory = openCgroup({ version: 2, controller: "memory", parents }, 1000, "agentcli-1-x");
    const pids = openCgroup({ version: 2, controller: "pids", parents }, 50, "agentcli-1-x");
    expect(
      ["memory.max", "memory.swap.max", "pids.max"].map((file) => readFileSync(join(group, file), "utf8").trim()),
    ).toEqual(["1000", "0", "50"].map((value) => expect.stringMatching(`^${value}`)));
    expect([memory?.timesReached(), pids?.timesReached()]).toEqual([2, 7]);
    expect(memory?.membersFile).toBe(join(group, "cgroup.procs"));
  });

  test("is not created where the controller is not delegated", () => {
    const { parent } = tree("cpu\n", "agentcli-1-x");
    expect(openCgroup({ version: 2, controller: "memory", parents: [parent] }, 1000, "fresh")).toBeUndefined();
    expect(existsSync(join(parent, "fresh"))).toBe(false);
  });

  test("one that stays busy for too long is removed with the next one", async () => {
    const { parent } = tree("memory\n", "agentcli-1-x");
    const open = (name: string) => openCgroup({ version: 2, controller: "memory", parents: [parent] }, 1000, name);
    const busy = open("agentcli-1-x");
    await busy?.remove(20);
    expect(existsSync(busy?.directory ?? "")).toBe(true);
    for (const file of readdirSync(busy?.directory ?? "")) rmSync(join(busy?.directory ?? "", file));
    open("agentcli-1-y");
    expect(existsSync(busy?.directory ?? "")).toBe(false);
  });

  test("one left by a killed run is removed, one of a live process is not", () => {
    const { parent } = tree("memory\n", "agentcli-1-x");
    const gone = join(parent, "agentcli-999999999-left");
    const alive = join(parent, `agentcli-${process.pid}-mine`);
    for (const path of [gone, alive]) mkdirSync(path);
    openCgroup({ version: 2, controller: "memory", parents: [parent] }, 1000, "agentcli-1-x");
    expect([existsSync(gone), existsSync(alive)]).toEqual([false, true]);
  });
});
