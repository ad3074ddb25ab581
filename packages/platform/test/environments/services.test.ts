// One build, then many agents from it: a repository whose environment installs Debian and npm packages, starts PostgreSQL and
// a dev server.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { unlimited } from "@agentcli/testkit/machines";
import { openClient, type RunIds, sendRequest } from "@agentcli/testkit/platform";
import { makeDebianBase, shopConfig, shopFiles, shopPort } from "@agentcli/testkit/shop";
import { expect, onTestFinished, test } from "vitest";
import { nativeFolder } from "../../src/foundation/db/binaries.ts";
import { openImages } from "../../src/images/index.ts";
import { type Machines, openMachines, removeMachineFiles, reportMachines } from "../../src/machines/index.ts";
import { localMachines } from "../harness/settings.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "./environment-harness.ts";

const agentsAtOnce = 20;

/** Prints what the dev server shows, and stays until the test lets it go. */
const look = [
  'ask=\'require("node:http").get("http://127.0.0.1:3000/inside", (r) => r.pipe(process.stdout)).on("error", () => process.exit(1))\'',
  'until node -e "$ask"; do sleep 0.2; done',
  "until [ -e /workspace/shop/go ]; do sleep 0.2; done",
].join("\n");

async function importBase(provider: Machines["provider"], { settings }: EnvironmentHarness["fixture"]["platform"]) {
  const directory = mkdtempSync("/var/tmp/shop-");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  makeDebianBase(directory, nativeFolder());
  const tar = spawn("tar", ["--create", "--owner=0", "--group=0", "--numeric-owner", "--directory", directory, "."]);
  const images = openImages({ settings, provider, limits: unlimited });
  images.setBase((await images.importArchive(tar.stdout, "a small Debian")).digest);
}

const previewOf = (client: EnvironmentHarness["client"], { agentId }: RunIds, headers = {}) => {
  const { port } = new URL(client.url);
  const host = `${shopPort}--${agentId}.localhost:${port}`;
  return sendRequest(client.url, { method: "GET", path: "/", headers: { host, ...headers } });
};

test("an environment with PostgreSQL and a dev server is built once; twenty agents at once start from it and share its layers", async () => {
  const harness = await openEnvironmentHarness({
    executor: "machines",
    replies: [
      { ...replyWith("Done."), when: { bodyIncludes: "function_call_output" } },
      call("exec_command", { cmd: look, yield_time_ms: 600_000 }),
    ],
    settings: { machines: { ...localMachines, cpus: null } },
  });
  const { client, fixture, dataDirectory } = harness;
  onTestFinished(() => removeMachineFiles(join(dataDirectory, "machines")));
  const { provider } = openMachines(fixture.platform.settings);
  const { obstacle, users } = await (await provider()).capabilities();
  // A machine of an ordinary user has root alone, and PostgreSQL does not run as root.
  if (obstacle !== null || users === "single") return;
  await importBase(provider, fixture.platform);

  const url = await harness.repository("shop", shopFiles);
  const { id } = await harness.create("shop", { repos: [url], config: shopConfig });
  const [begun] = await harness.builds(id);
  if (begun === undefined) return expect.fail("no build");
  const build = await harness.ended(begun);
  const log = await harness.log(build);
  expect(build.status, log).toBe("SUCCEEDED");
  expect(log).toContain("Setting up shop-database (1.0)");
  expect(log).toContain("added 1 package");
  const layers = readdirSync(join(dataDirectory, "machines/layers"));

  const agents = await Promise.all(
    Array.from({ length: agentsAtOnce }, () => client.create({ prompt: { text: "look" }, repos: [{ url }] })),
  );
  const key = { authorization: `Bearer ${fixture.key}` };
  for (const agent of agents)
    await expect
      .poll(async () => (await previewOf(client, agent, key)).body, { timeout: 240_000, interval: 500 })
      .toEqual({ url: "/", machine: expect.any(String), answer: "42" });
  expect(readdirSync(join(dataDirectory, "machines/layers"))).toEqual(layers);
  const running = (await reportMachines(fixture.platform.settings)).filter(({ state }) => state === "running");
  expect(running.map((machine) => machine.id).toSorted()).toEqual(agents.map(({ agentId }) => agentId).toSorted());
  // Its own files, such as the log of the database: not the system, nor the packages.
  for (const { diskBytes } of running) expect(diskBytes).toBeLessThan(64 * 1024 ** 2);

  const [first] = agents;
  if (first === undefined) return expect.fail("no agent");
  const owner = { kind: "user", email: "other@example.com" } as const;
  const named = { name: "other", team: "default", owner, scopes: null, expiresAt: null };
  const other = openClient(client.url, (await fixture.platform.principals.createKey(named)).key);
  expect((await previewOf(client, first)).status).toBe(401);
  expect((await previewOf(client, first, { authorization: `Bearer ${other.key}` })).status).toBe(403);

  for (const { agentId } of agents) writeFileSync(join(dataDirectory, "workspaces", agentId, "shop/go"), "");
  for (const agent of agents) {
    const frames = JSON.stringify(await client.stream(agent));
    expect(frames).toContain('\\"url\\":\\"/inside\\"');
    expect(await client.read(agent)).toMatchObject({ status: "FINISHED", environment: { buildId: build.id } });
    expect((await client.read(agent)).environment?.warnings ?? []).toEqual([]);
  }
}, 600_000);
