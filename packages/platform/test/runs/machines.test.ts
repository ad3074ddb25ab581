// Runs whose commands are in a machine of the agent.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { call, type Reply, replyWith } from "@agentcli/testkit";
import type { Kysely } from "kysely";
import { expect, test } from "vitest";
import { machineRetention } from "../../src/agents/machine-retention.ts";
import type { Settings } from "../../src/foundation/config/index.ts";
import type { Tables } from "../../src/foundation/index.ts";
import { reportMachines, stopMachine } from "../../src/machines/index.ts";
import { localMachines } from "../harness/settings.ts";
import { applyAll } from "../operations/retention-rules.ts";
import { openRunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

async function openWithMachines(replies: Reply[], settings: Partial<Settings> = {}) {
  const harness = await openRunHarness({ replies, settings: { machines: localMachines, ...settings } });
  const machines = () => readdirSync(join(harness.dataDirectory, "machines/machines"));
  return { ...harness, machines };
}

type Harness = Awaited<ReturnType<typeof openWithMachines>>;

/** The output of the commands of a run, and the run as it is read. */
async function outcome({ client }: Harness, ids: { agentId: string; runId: string }) {
  const frames = await client.stream(ids);
  const text = JSON.stringify(frames.filter(({ event }) => event === "tool_call"));
  return { text, run: await client.read(ids) };
}

test("commands of a run are root of a machine whose disk stays for the next run and goes with the agent", async () => {
  const harness = await openWithMachines([
    shell("id -u; pwd; echo text > /etc/own.conf; mkdir /opt/tool; echo file > file.txt; hostname"),
    replyWith("First."),
    shell("cat /etc/own.conf file.txt; ls -d /opt/tool"),
    replyWith("Second."),
  ]);
  const first = await harness.client.create({ prompt: { text: "begin" } });
  const begun = await outcome(harness, first);
  expect(begun.text).toContain("0\\n/workspace/workspace\\n");
  expect(begun.run).toMatchObject({
    status: "FINISHED",
    machine: { provider: "local", reason: "machines.provider is local" },
  });
  const second = await outcome(harness, await harness.client.followUp(first.agentId, { prompt: { text: "and?" } }));
  expect(second.text).toContain("text\\nfile\\n/opt/tool\\n");
  expect(harness.machines()).toEqual([first.agentId]);
  await harness.client.send("DELETE", `/v1/agents/${first.agentId}`);
  expect(harness.machines()).toEqual([]);
});

test("a machine whose disk is gone is reported on the run, and the next run has a new one", async () => {
  const harness = await openWithMachines(
    [shell("echo kept > file.txt"), replyWith("First."), shell("true"), shell("cat file.txt"), replyWith("Third.")],
    { machines: { ...localMachines, idleMs: 0 } },
  );
  const first = await harness.client.create({ prompt: { text: "begin" } });
  await outcome(harness, first);
  await expect
    .poll(() => readdirSync(join(harness.dataDirectory, "machines/machines", first.agentId)))
    .not.toContain("running.json");
  rmSync(join(harness.dataDirectory, "machines/machines", first.agentId), { recursive: true });
  const lost = await outcome(harness, await harness.client.followUp(first.agentId, { prompt: { text: "go on" } }));
  expect(lost.run).toMatchObject({ status: "ERROR", error: { code: "machine_lost" } });
  expect(harness.machines()).toEqual([]);
  const third = await outcome(harness, await harness.client.followUp(first.agentId, { prompt: { text: "again" } }));
  expect(third.run.status).toBe("FINISHED");
});

test("the machine of an agent goes 30 days after it was archived; unarchived, the agent continues with a new one", async () => {
  const harness = await openWithMachines(
    [shell("echo text > /etc/own.conf"), replyWith("First."), shell("cat /etc/own.conf"), replyWith("Second.")],
    { machines: { ...localMachines, idleMs: 0 } },
  );
  const { client, dataDirectory, fixture } = harness;
  const first = await client.create({ prompt: { text: "begin" } });
  await outcome(harness, first);
  await expect
    .poll(() => readdirSync(join(dataDirectory, "machines/machines", first.agentId)))
    .not.toContain("running.json");
  await client.send("POST", `/v1/agents/${first.agentId}/archive`);
  const { db } = fixture.platform;
  await applyAll({ db, dataDirectory, hoursLater: 0 });
  expect(harness.machines()).toEqual([first.agentId]);
  const archived_at = new Date(Date.now() - 31 * 24 * 3_600_000);
  await db.updateTable("agents").set({ archived_at }).where("id", "=", first.agentId).execute();
  await applyAll({ db, dataDirectory, hoursLater: 0 });
  expect(harness.machines()).toEqual([]);
  await client.send("POST", `/v1/agents/${first.agentId}/unarchive`);
  const next = await outcome(harness, await client.followUp(first.agentId, { prompt: { text: "go on" } }));
  expect(next.run).toMatchObject({ status: "FINISHED" });
  expect(next.text).toContain("/etc/own.conf: No such file or directory");
});

test("disks over the budget go, the least recently used first, and the next run says so and has what was not pushed", async () => {
  const write = shell(
    "echo text > /etc/own.conf; echo kept > file.txt; git add file.txt; git commit --quiet --message=Made",
  );
  const harness = await openWithMachines(
    [
      ...[write, replyWith("First."), write, replyWith("Second.")],
      shell("cat /etc/own.conf; git log --format=%s"),
      replyWith("Third."),
    ],
    { machines: { ...localMachines, idleMs: 0 } },
  );
  const { client, fixture, dataDirectory } = harness;
  const { db, settings } = fixture.platform;
  const url = await harness.repository("budget", { "a.txt": "a\n" });
  const agents: { agentId: string; runId: string }[] = [];
  for (const text of ["one", "two"]) {
    const ids = await client.create({ prompt: { text }, repos: [{ url }] });
    await outcome(harness, ids);
    agents.push(ids);
  }
  const [first, second] = agents.map(({ agentId }) => agentId);
  const isIdle = async () => (await reportMachines(settings)).every(({ state }) => state === "stopped");
  await expect.poll(isIdle).toBe(true);
  const occupied = (await reportMachines(settings)).reduce((sum, { diskBytes }) => sum + diskBytes, 0);
  const apply = async (diskBudget: string) => {
    const rule = machineRetention({ db, settings: { ...settings, machines: { ...localMachines, diskBudget } } });
    let removed = 0;
    for await (const count of rule.remove()) removed += count;
    return removed;
  };
  expect(await apply(String(occupied))).toBe(0);
  expect(await apply(String(occupied - 1))).toBe(1);
  expect(harness.machines()).toEqual([second]);
  const next = await outcome(harness, await client.followUp(first ?? "", { prompt: { text: "go on" } }));
  expect(next.text).toContain("/etc/own.conf: No such file or directory\\nMade\\n");
  expect(next.run).toMatchObject({
    status: "FINISHED",
    environment: { warnings: [expect.stringContaining("(machines.disk_budget). Its repositories are complete")] },
  });
  await expect.poll(isIdle).toBe(true);
  expect(readdirSync(join(dataDirectory, "machines/removed"))).toEqual([]);
  await useDaysAgo(db, second ?? "", 92);
  await useDaysAgo(db, first ?? "", 91);
  const removal = machineRetention({ db, settings: { ...settings, machines: localMachines } })
    .remove()
    [Symbol.asyncIterator]();
  expect(await removal.next()).toEqual({ done: false, value: 1 });
  expect(harness.machines()).toEqual([first]);
  // Used while the rule pauses.
  await useDaysAgo(db, first ?? "", 0);
  expect(await removal.next()).toEqual({ done: true, value: undefined });
  expect(harness.machines()).toEqual([first]);
  // It has gone on elsewhere: what is here is an older disk.
  await useDaysAgo(db, first ?? "", 91);
  await db
    .updateTable("agent_disks")
    .set({ data_id: "another" })
    .where("agent_id", "=", first ?? "")
    .execute();
  expect(await apply("off")).toBe(1);
  expect(harness.machines()).toEqual([]);
  expect(readdirSync(join(dataDirectory, "machines/removed"))).toEqual([second]);
  const used = db.selectFrom("runs").select("machine_id").where("machine_id", "is not", null);
  expect(await used.execute()).toEqual([{ machine_id: first }]);
});

const useDaysAgo = (db: Kysely<Tables>, agentId: string, days: number) =>
  db
    .updateTable("runs")
    .set({ ended_at: new Date(Date.now() - days * 24 * 3_600_000) })
    .where("agent_id", "=", agentId)
    .execute();

test("a machine that is stopped during a run is reported on it, and the next run goes on with its disk", async () => {
  const harness = await openWithMachines([
    shell("echo text > /etc/own.conf; touch ready; sleep 1000"),
    shell("true"),
    shell("cat /etc/own.conf"),
    replyWith("Third."),
  ]);
  const first = await harness.client.create({ prompt: { text: "begin" } });
  const ready = join(harness.dataDirectory, "workspaces", first.agentId, "workspace/ready");
  await expect.poll(() => existsSync(ready)).toBe(true);
  const [listed] = await reportMachines(harness.fixture.platform.settings);
  expect(listed).toMatchObject({ id: first.agentId, state: "running" });
  expect(await stopMachine(harness.fixture.platform.settings, first.agentId)).toBe(true);
  expect((await outcome(harness, first)).run).toMatchObject({ status: "ERROR", error: { code: "machine_lost" } });
  const next = await outcome(harness, await harness.client.followUp(first.agentId, { prompt: { text: "go on" } }));
  expect(next.text).toContain("text\\n");
});

test("in a machine, what configures the agent cannot be changed, and a plan run changes nothing", async () => {
  const harness = await openWithMachines([
    shell("touch .git/host/x .agentcli/x /workspace/x; echo $?; touch /opt/made"),
    replyWith("First."),
    shell("touch file /opt/file /etc/file; ls /opt"),
    replyWith("Planned."),
  ]);
  const url = await harness.repository("protected", { "a.txt": "a\n", ".agentcli/config.toml": "" });
  const first = await harness.client.create({ prompt: { text: "begin" }, repos: [{ url }] });
  const { text } = await outcome(harness, first);
  for (const path of [".git/host/x", ".agentcli/x", "/workspace/x"])
    expect(text).toMatch(new RegExp(`'${path}': (Read-only file system|Permission denied)`));
  const plan = await harness.client.followUp(first.agentId, { prompt: { text: "plan" }, mode: "plan" });
  const planned = (await outcome(harness, plan)).text;
  for (const path of ["file", "/opt/file", "/etc/file"]) expect(planned).toContain(`'${path}': Read-only file system`);
  expect(planned).toContain("made\\n");
});

test("without machines a run is on the host, and says so", async () => {
  const harness = await openRunHarness({ replies: [shell("id -u"), replyWith("Done.")] });
  const ids = await harness.client.create({ prompt: { text: "begin" } });
  await harness.client.stream(ids);
  expect(await harness.client.read(ids)).toMatchObject({
    machine: { provider: "host", reason: "machines.provider is host" },
  });
});
