import { spawn, spawnSync } from "node:child_process";
import { openSync } from "node:fs";
import { explainLimit, explainOutput } from "@agentcli/protocol/system-errors";
import { describe, expect, test } from "vitest";

const errorOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe("errors of the system", () => {
  test("name the limit and what to do, for real failures", () => {
    const long = errorOf(() => openSync(`/${"d".repeat(300)}`, "r"));
    expect(explainLimit(long)).toMatch(/^The path is too long: .*--cd DIR\. \(ENAMETOOLONG, /);
    const many = errorOf(() => spawn("true", ["x".repeat(200_000)]));
    expect(explainLimit(many)).toMatch(/too long for a new process.*Put the data into a file/);
    const full = errorOf(
      () => spawnSync("sh", ["-c", "head -c 10 /dev/zero > /dev/full"], { encoding: "utf8" }).stderr,
    );
    expect(explainOutput(String(full))).toContain("The disk is full");
  });

  test.each([
    [{ code: "EMFILE" }, "ulimit -n 4096"],
    [{ code: "EAGAIN", syscall: "spawn /bin/bash" }, "ulimit -u 4096"],
    [{ code: "ENOSPC", syscall: "write" }, "The disk is full"],
    [{ code: "EDQUOT" }, "quota"],
  ])("%j is explained", (error, text) => {
    expect(explainLimit(error)).toContain(text);
  });

  test("other errors are left alone", () => {
    for (const error of [{ code: "EAGAIN", syscall: "read" }, { code: "ENOENT" }, new Error("x"), null])
      expect(explainLimit(error)).toBeNull();
    expect(explainOutput("bwrap: setting up uid map: Permission denied")).toBeNull();
  });

  test.each([
    ["bwrap: Creating new namespace failed: Resource temporarily unavailable"],
    ["#  node[2]: node::WorkerThreadsTaskRunner::DelayedTaskScheduler::Start() at ../src/node_platform.cc:68"],
  ])("%s means the limit of processes", (text) => {
    expect(explainOutput(text)).toContain("ulimit -u 4096");
  });
});
