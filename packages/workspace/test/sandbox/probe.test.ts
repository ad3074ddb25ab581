// Which back end is selected, why others are not, and the known gaps of each.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BackEnd, knownGapsOf } from "../../src/sandbox/back-end.ts";
import { findBubblewrap } from "../../src/sandbox/bubblewrap/find.ts";
import { sandboxPolicy } from "../../src/sandbox/policy.ts";
import { probeAllBackEnds, probeSandbox, type SandboxProbe } from "../../src/sandbox/probe.ts";
import { describeSandbox } from "../../src/sandbox/report.ts";
import { temporaryDirectory } from "../support/locations.ts";
import { serverProgram } from "../support/server-program.ts";

let base = "";
beforeEach(() => {
  base = temporaryDirectory();
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const bubblewrapThat = (script: string) =>
  writeFileSync(join(base, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const forbidden = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1";
const probe = async (path: string, program?: string) =>
  probeSandbox({ path, untrusted: [], serverProgram: program ?? (await serverProgram()) });

describe("the order of back ends", () => {
  test("begins with bubblewrap", async () => {
    expect(await probe(process.env.PATH ?? "")).toEqual({
      kind: "available",
      backEnd: { kind: "bubblewrap", program: expect.stringMatching(/\/bwrap$/), processes: "own" },
      shortfalls: [],
    });
  });

  test("continues with bubblewrap and shared processes where /proc cannot be mounted", async () => {
    const message = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
    bubblewrapThat(
      `case "$*" in *--proc*) echo "${message}" >&2; exit 1;; esac; PATH=$PATH:/usr/bin; exec /usr/bin/bwrap "$@"`,
    );
    expect(await probe(base)).toMatchObject({ kind: "available", backEnd: { processes: "shared" } });
  });

  test("continues with Landlock where user namespaces are forbidden, and keeps the reason", async () => {
    bubblewrapThat(forbidden);
    expect(await probe(base)).toEqual({
      kind: "available",
      backEnd: { kind: "landlock", version: expect.any(Number) },
      shortfalls: [
        {
          backEnd: "bubblewrap",
          reason: "bubblewrap does not work here: bwrap: No permissions to create new namespace.",
          remedy: expect.stringContaining("kernel.unprivileged_userns_clone=1"),
        },
      ],
    });
  });

  test("ends without a back end, and gives the reason for each", async () => {
    const found = await probe(base, join(base, "workspace-server.cjs"));
    expect(found).toMatchObject({ kind: "unavailable", remedy: expect.stringContaining("apt-get install bubblewrap") });
    expect(found).toMatchObject({
      reason: expect.stringMatching(/bwrap.*was not found.*landlock-launcher.cjs is missing/),
    });
  });

  test("can be probed one by one", async () => {
    const options = { path: process.env.PATH ?? "", untrusted: [], serverProgram: await serverProgram() };
    expect(await probeAllBackEnds(options)).toMatchObject([{ kind: "bubblewrap" }, { kind: "landlock" }]);
  });

  test("does not trust a bubblewrap that lies in the workspace", () => {
    bubblewrapThat("exit 0");
    expect(() => findBubblewrap({ path: base, untrusted: [base] })).toThrow("not found on PATH");
    expect(findBubblewrap({ path: base, untrusted: ["/"] })).toBe(join(base, "bwrap"));
  });
});

describe("the report of the sandbox", () => {
  const available = (backEnd: BackEnd): SandboxProbe => ({ kind: "available", backEnd, shortfalls: [] });
  const policy = (mode: "read-only" | "workspace-write" | "danger-full-access") => sandboxPolicy({ mode, root: base });
  const bubblewrap = { kind: "bubblewrap", program: "/usr/bin/bwrap", processes: "own" } as const;
  const syscalls = ["x64", "arm64"].includes(process.arch);

  test("lists what bubblewrap enforces", () => {
    const enforced = { mode: "read-only", backend: "bubblewrap", fs: "read-only", net: "off", pid: true, syscalls };
    expect(describeSandbox(policy("read-only"), available(bubblewrap))).toEqual({
      ...enforced,
      admits: [expect.stringContaining("the server beside it")],
    });
    const shared = available({ ...bubblewrap, processes: "shared" });
    expect(describeSandbox(policy("read-only"), shared)).toMatchObject({ ...enforced, pid: false });
  });

  test("lists what Landlock enforces and what it does not", () => {
    const report = describeSandbox(policy("workspace-write"), available({ kind: "landlock", version: 7 }));
    expect(report).toMatchObject({ backend: "landlock", fs: "workspace-write", net: "off", pid: false, syscalls });
    expect(report.admits).toContain(
      ".git, .agentcli, .agents and .platform inside writable directories, and .git of repositories below, can be changed",
    );
  });

  test("reports that nothing is enforced without a back end", () => {
    const nothing = { backend: "none", fs: "none", net: "on", pid: false, syscalls: false, admits: [] };
    const unavailable: SandboxProbe = { kind: "unavailable", reason: "", remedy: "" };
    expect(describeSandbox(policy("read-only"), unavailable)).toMatchObject(nothing);
    expect(describeSandbox(policy("danger-full-access"), available(bubblewrap))).toMatchObject(nothing);
  });

  test("lists more gaps for a weaker back end and a wider policy", () => {
    const choice = { mode: "workspace-write", unixSockets: "refused" } as const;
    expect(knownGapsOf(bubblewrap, choice)).toEqual(["hard-links", "server"]);
    expect(knownGapsOf({ kind: "landlock", version: 5 }, choice)).toContain("signals");
    expect(knownGapsOf({ kind: "landlock", version: 6 }, choice)).not.toContain("signals");
    expect(knownGapsOf({ kind: "landlock", version: 6 }, { ...choice, mode: "read-only" })).not.toContain(
      "protected-names",
    );
    expect(knownGapsOf({ kind: "landlock", version: 6 }, { ...choice, unixSockets: "allowed" })).toContain(
      "unix-sockets",
    );
  });
});
