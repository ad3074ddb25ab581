import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { call, type ModelServer, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { key, openScenario } from "./scenario.ts";

// Users, sudo and mounts of a scratch root need root, as a runner's image does.
const isRoot = process.getuid?.() === 0;
/** With commands for the runner, of which it also reads the older form within a line. */
const message = "Two findings.\n::stop::\nSee ##[stop-commands]now";

const outputOf = (model: ModelServer): string => JSON.stringify(model.requests().at(-1)?.body);

test.runIf(isRoot)(
  "another user runs the agent: its message comes out, and its shell finds the key nowhere",
  async () => {
    const { runner, model, use } = await openScenario([
      call("exec_command", { cmd: "id -un; node /opt/search.cjs; sudo -n true || echo no sudo" }),
      replyWith(message),
    ]);
    const result = await use({
      ...{ prompt: "Look<!-- hidden --> around", "safety-strategy": "unprivileged-user", "agent-user": "agent" },
      ...{ sandbox: "danger-full-access", "output-file": "message.txt" },
    });
    expect(result.log).not.toContain(key);
    expect(result).toMatchObject({
      ok: true,
      outputs: { "final-message": message, "exit-code": "0" },
    });
    expect(result.outputs["thread-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(result.outputs.usage ?? "")).toHaveProperty("input_tokens");
    expect(result.summary).toContain("> Two findings.");
    expect(result.log).not.toMatch(/^::stop/m);
    expect(result.log).not.toContain("##[");
    const seen = outputOf(model);
    expect(seen).toContain("agent\\n");
    expect(seen).toContain("no sudo");
    // The control is found, so the search works; the key is not.
    expect(seen).toContain("1 /proc/N/environ");
    expect(seen).not.toContain("0 /");
    expect(JSON.stringify(model.requests()[0]?.body)).not.toContain("hidden");
    expect(model.requests()[0]?.headers.authorization).toBe(`Bearer ${key}`);
    const later = await runner.shell("node /opt/search.cjs; cat message.txt");
    expect(later.stdout).toBe(`[]\n${message}`);
  },
);

test.runIf(isRoot)(
  "drop-sudo: the agent has the job's user, and neither it nor later steps get the key or sudo",
  async () => {
    const { runner, model, use } = await openScenario([
      call("exec_command", { cmd: "id -un; node /opt/search.cjs; sudo -n true || echo no sudo" }),
      replyWith("Done."),
    ]);
    const before = ["passwd", "hosts", "resolv.conf", "sudoers.d/runner"].map((name) =>
      readFileSync(join(runner.root, "etc", name), "utf8"),
    );
    expect((await runner.shell("sudo -n id -u")).stdout).toBe("0\n");
    const result = await use({ prompt: "Look around", sandbox: "danger-full-access" });
    expect(result.log).toContain("runner cannot use sudo any more");
    expect(result).toMatchObject({ ok: true, outputs: { "final-message": "Done." } });
    const seen = outputOf(model);
    expect(seen).toContain("no sudo");
    expect(seen).toContain("1 /proc/N/environ");
    expect(seen).not.toContain("0 /");
    const later = await runner.shell(
      "node /opt/search.cjs; sudo -n true || echo no sudo; getent hosts build.internal; id -nG",
    );
    expect(later.stdout).toMatch(/^\[\]\nno sudo\n10\.1\.2\.3 +build\.internal\nrunner\n$/);
    const after = ["passwd", "hosts", "resolv.conf", "sudoers.d/runner"].map((name) =>
      readFileSync(join(runner.root, "etc", name), "utf8"),
    );
    expect(after).toEqual(before);
    const sudoers = statSync(join(runner.root, "etc/sudoers"));
    expect([sudoers.uid, sudoers.gid, sudoers.mode & 0o777]).toEqual([0, 0, 0o440]);
    expect(readFileSync(join(runner.root, "etc/group"), "utf8")).toContain("sudo:x:27:other\ndocker:x:998:\n");
  },
);

test.runIf(isRoot)("core files of all processes that the job's user may end do not have the key", async () => {
  const { runner, use } = await openScenario([call("exec_command", { cmd: "touch ready; sleep 600" })]);
  const used = use({ prompt: "Wait", sandbox: "danger-full-access" });
  await expect.poll(() => existsSync(join(runner.root, "home/runner/work/ready"))).toBe(true);
  const { stdout, stderr } = await runner.shell("node /opt/dump.cjs");
  expect(stderr).toBe("");
  const dumped = JSON.parse(stdout);
  expect(dumped[0]).toEqual({ what: "proxy", raised: false, core: false });
  expect(dumped.length).toBeGreaterThan(3);
  expect((await used).ok).toBe(false);
  const found = JSON.parse((await runner.shell("node /opt/search.cjs")).stdout);
  expect(found.filter((each: string) => each.startsWith("0 "))).toEqual([]);
  // Where the kernel writes core files as files, the control is in them.
  if (/^[^|/]/.test(readFileSync("/proc/sys/kernel/core_pattern", "utf8")))
    expect(found).toContain("1 /home/runner/temp/dump-N");
});

test.runIf(isRoot)("a failed run fails the action with its code, and the proxy is stopped all the same", async () => {
  const { runner, use } = await openScenario([{ status: 401 }, { status: 401 }]);
  const result = await use({ prompt: "hello", sandbox: "danger-full-access", "safety-strategy": "unsafe" });
  expect(result).toMatchObject({ ok: false, outputs: { "exit-code": "3", "final-message": "" } });
  expect(result.log).toContain("::error title=agentcli::The agent failed with exit code 3.");
  expect(result.log).toContain("The proxy has stopped");
  expect((await runner.shell("ls /home/runner/temp | grep proxy || echo none")).stdout).toBe("none\n");
});
