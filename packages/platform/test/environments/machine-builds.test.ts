// Builds of environments in machines of the server's own host.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "@agentcli/protocol/api";
import { unlimited } from "@agentcli/testkit/machines";
import { expect, test } from "vitest";
import { readOutput } from "../../src/environments/builds/output.ts";
import { compareDisks } from "../../src/environments/compare-disks.ts";
import { diskOf, openEnvironmentOperator } from "../../src/environments/operator.ts";
import { buildRetention, layerRetention } from "../../src/environments/retention.ts";
import { openImages } from "../../src/images/index.ts";
import { openMachines, openMachineWorkspace } from "../../src/machines/index.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "./environment-harness.ts";

const machinesOf = ({ fixture }: EnvironmentHarness) => openMachines(fixture.platform.settings);

/** Where there can be no machines, the log of the build says why. */
async function built(harness: EnvironmentHarness, environmentId: string): Promise<Build & { log: string }> {
  const build = await harness.ended((await harness.builds(environmentId))[0] ?? expect.fail("no build"));
  return { ...build, log: await harness.log(build) };
}

async function layersOf({ fixture }: EnvironmentHarness, { id }: Build): Promise<string[]> {
  const builds = fixture.platform.db.selectFrom("environment_builds").select("output");
  const { output } = await builds.where("id", "=", id).executeTakeFirstOrThrow();
  return readOutput(output)?.layers ?? [];
}

/** In a new machine that starts from these layers. */
async function runFrom(harness: EnvironmentHarness, layers: string[], command: string): Promise<string> {
  const provider = await machinesOf(harness).provider();
  const machine = await provider.create({ id: `check-${process.pid}`, layers, limits: unlimited });
  try {
    const supervisor = await machine.start({ allowed: [], denied: [], onDenied: () => {} });
    const env = { PATH: "/usr/bin:/bin" };
    const workspace = await openMachineWorkspace(supervisor, { root: "/", incarnation: "check", env });
    let text = "";
    const start = { argv: ["/bin/sh", "-c", command] };
    const take = (chunk: { text: string }) => {
      text += chunk.text;
    };
    await workspace.exec({ id: "check", start }, take, new AbortController().signal);
    return text;
  } finally {
    await machine.remove();
  }
}

const obstacle = async (harness: EnvironmentHarness) =>
  (await (await machinesOf(harness).provider()).capabilities()).obstacle;

test("a build runs install in a machine, and machines that start from it have its disk", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const url = await harness.repository("shop", { "package.json": "{}" });
  const install =
    "pwd; ls; git status --short; echo made > made; echo home > ~/home; echo gone > /tmp/gone; sleep 1000 &";
  const { id } = await harness.create("shop", { repos: [url], config: { install } });
  const build = await built(harness, id);
  const reason = await obstacle(harness);
  if (reason !== null) return expect(build.log).toContain(reason);
  expect(build, build.log).toMatchObject({ status: "SUCCEEDED" });
  expect(build.log).toContain("Base: the system directories of the host, read-only");
  expect(build.log).toContain(`$ ${install}\n/workspace/shop\npackage.json\n`);
  const layers = await layersOf(harness, build);
  const command =
    "cat /root/home /workspace/shop/made; cat /tmp/gone 2> /dev/null; git -C /workspace/shop status --short";
  expect(await runFrom(harness, layers, command)).toBe("home\nmade\n?? made\n");
  const { directory } = machinesOf(harness);
  expect([...readdirSync(join(directory, "machines")), ...readdirSync(join(directory, "builds"))]).toEqual([]);
});

test("a failed install keeps the active build, shows its log, and what it left can be looked at", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const { id } = await harness.create("shop", { config: { install: "true" } });
  const good = await built(harness, id);
  if ((await obstacle(harness)) !== null) return expect(good.status).toBe("FAILED");
  const environmentJson = JSON.stringify({ install: "echo half > /root/half; echo broken >&2; exit 3" });
  await harness.client.send("PATCH", `/v1/environments/${id}`, { environmentJson });
  const bad = await built(harness, id);
  expect(bad).toMatchObject({ status: "FAILED", failure: { type: "INSTALL_FAILED" } });
  expect(bad.log).toMatch(/broken\ninstall ended with 3\n$/);
  expect(await harness.active(id)).toBe(good.id);
  expect(await runFrom(harness, await layersOf(harness, bad), "cat /root/half")).toBe("half\n");
});

test("several repositories are side by side, and install runs in the directory above them", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const repos = [await harness.repository("shop", { a: "" }), await harness.repository("api", { b: "" })];
  const { id } = await harness.create("both", { repos, config: { install: "pwd; ls *" } });
  const build = await built(harness, id);
  if ((await obstacle(harness)) !== null) return expect(build.status).toBe("FAILED");
  expect(build.log).toContain("/workspace\napi:\nb\n\nshop:\na\n");
});

test("a cancelled build ends its processes and leaves no machine", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const { id } = await harness.create("shop", { config: { install: "echo begun; sleep 1000" } });
  const [begun] = await harness.builds(id);
  if (begun === undefined) return expect.fail("no build");
  if ((await obstacle(harness)) !== null) return expect((await built(harness, id)).status).toBe("FAILED");
  await expect.poll(() => harness.log(begun), { timeout: 120_000 }).toContain("\nbegun\n");
  await harness.client.post(`/v1/environments/${id}/builds/${begun.id}/cancel`, undefined);
  expect(await built(harness, id)).toMatchObject({ status: "CANCELLED" });
  const { directory } = machinesOf(harness);
  expect(readdirSync(join(directory, "machines"))).toEqual([]);
  expect(existsSync(join(directory, "builds", begun.id))).toBe(false);
});

test("an operator builds by name, and the disks of two builds are compared file by file", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const { id } = await harness.create("shop", { config: { install: "echo one > /root/both; echo > /root/gone" } });
  await built(harness, id);
  if ((await obstacle(harness)) !== null) return;
  const { db, vault } = harness.fixture.platform;
  const operator = openEnvironmentOperator(db, vault);
  const environment = await operator.find("shop");
  const again = await operator.build(environment, "active");
  await harness.ended({ id: again.id, environmentId: id });
  const environmentJson = JSON.stringify({ install: "echo three > /root/both; echo > /root/new" });
  await harness.client.send("PATCH", `/v1/environments/${id}`, { environmentJson });
  await built(harness, id);
  // Changing the configuration may have begun a build by itself; then the one that was asked for has nothing to do.
  const [changed, same, first] = (await operator.builds(id)).filter(({ status }) => status !== "SKIPPED");
  if (!changed || !same || !first) return expect.fail("three builds expected");
  const machines = machinesOf(harness);
  expect(await compareDisks(machines, { layers: [diskOf(first), diskOf(same)] })).toMatchObject({
    packages: [],
    files: [],
  });
  const { files, bytes } = await compareDisks(machines, { layers: [diskOf(first), diskOf(changed)] });
  expect(files).toEqual([
    ...["- /root/both (4 bytes)", "+ /root/both (6 bytes)", "- /root/gone (1 bytes)", "+ /root/new (1 bytes)"],
  ]);
  expect(bytes[1] - bytes[0]).toBe(2);
  const { client } = harness;
  const diffOf = (build: { id: string }, from: { id: string }) =>
    client.send("GET", `/v1/environments/${id}/builds/${build.id}/diff?from=${from.id}`);
  expect(JSON.parse((await diffOf(changed, first)).bytes.toString())).toMatchObject({
    ...{ from: first.id, to: changed.id, packages: [], truncated: false, bytesBefore: bytes[0], bytesAfter: bytes[1] },
    files: [
      { path: "/root/both", before: "4 bytes", after: "6 bytes" },
      { path: "/root/gone", before: "1 bytes" },
      { path: "/root/new", after: "1 bytes" },
    ],
  });
  const skipped = (await operator.builds(id)).find(({ status }) => status === "SKIPPED");
  if (skipped) expect((await diffOf(changed, skipped)).status).toBe(409);
  expect((await diffOf(changed, { id: "bld-none" })).status).toBe(404);
  await operator.activate(first);
  expect(await harness.active(id)).toBe(first.id);
  await expect(operator.find("none")).rejects.toThrow(
    "There is no environment none. List them with: platform env list",
  );
  expect((await operator.readLog(first, 0)).map(({ text }) => text).join("")).toContain("$ echo one");
});

test("builds go 30 days after their end, and then the layers that nothing starts from; the active build can still be used", async () => {
  const harness = await openEnvironmentHarness({ executor: "machines" });
  const { id } = await harness.create("shop", { config: { install: "echo one > /root/made" } });
  const former = await built(harness, id);
  if ((await obstacle(harness)) !== null) return expect(former.status).toBe("FAILED");
  const formerLayers = await layersOf(harness, former);
  await harness.client.send("PATCH", `/v1/environments/${id}`, {
    environmentJson: JSON.stringify({ install: "echo two > /root/made" }),
  });
  const active = await built(harness, id);
  const { db, settings } = harness.fixture.platform;
  const directory = join(settings.dataDirectory, "machines/layers");
  const machines = machinesOf(harness);
  const images = openImages({ settings, ...machines });
  const apply = async (hoursLater: number) => {
    const now = () => Date.now() + hoursLater * 3_600_000;
    for (const rule of [
      buildRetention(db, settings.retention.buildDays),
      layerRetention({ db, machines, images, ...settings.retention, now }),
    ])
      for await (const _count of rule.remove());
  };
  const completed_at = new Date(Date.now() - 31 * 24 * 3_600_000);
  await db.updateTable("environment_builds").set({ completed_at }).execute();
  await apply(0);
  expect((await harness.builds(id)).map((build) => build.id)).toEqual([active.id]);
  expect(readdirSync(directory)).toEqual(expect.arrayContaining(formerLayers));
  await apply(25);
  const left = readdirSync(directory).sort();
  expect(left).toEqual((await layersOf(harness, active)).sort());
  expect(left).not.toContain(formerLayers[0]);
  expect(await runFrom(harness, await layersOf(harness, active), "cat /root/made")).toBe("two\n");
});
