// Agents whose machines begin with the build of an environment.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type { Build, Run } from "@agentcli/protocol/api";
import { call, type Reply, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openImages } from "../../src/images/index.ts";
import { openMachines } from "../../src/machines/index.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "./environment-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });
const machines: Settings["machines"] = {
  provider: "local",
  dockerSocket: "",
  diskBudget: "off",
  cpus: 1,
  idleMs: 60_000,
};

/** Every run executes one command. */
async function openWithEnvironments(command: string): Promise<EnvironmentHarness> {
  const replies: Reply[] = Array.from({ length: 8 }, () => [shell(command), replyWith("Done.")]).flat();
  return openEnvironmentHarness({ executor: "machines", replies, settings: { machines } });
}

async function built(harness: EnvironmentHarness, environmentId: string): Promise<Build> {
  return harness.ended((await harness.builds(environmentId))[0] ?? expect.fail("no build"));
}

/** The output of its command, and the run. */
async function runOf(
  { client }: EnvironmentHarness,
  body: object,
): Promise<{ text: string; run: Run; agentId: string }> {
  const ids = await client.create({ prompt: { text: "begin" }, ...body });
  return outcome(client, ids);
}

async function outcome(client: EnvironmentHarness["client"], ids: { agentId: string; runId: string }) {
  const frames = await client.stream(ids);
  const text = JSON.stringify(frames.filter(({ event }) => event === "tool_call"));
  return { text, run: (await client.read(ids)) as Run, agentId: ids.agentId };
}

const hasMachines = async ({ fixture }: EnvironmentHarness): Promise<boolean> =>
  (await (await openMachines(fixture.platform.settings).provider()).capabilities()).obstacle === null;

test("an agent begins with the disk of the active build, and its run says which build, which commit and why", async () => {
  const look =
    "cat /opt/tool ~/home modules/a/index single.txt; cat tracked; git status --short; echo more > modules/own";
  const harness = await openWithEnvironments(look);
  const url = await harness.repository("shop", { tracked: "at the commit\n", ".gitignore": "modules\nsingle.txt\n" });
  const install =
    "echo tool > /opt/tool; echo home > ~/home; mkdir -p modules/a; echo module > modules/a/index; echo single > single.txt; echo changed > tracked";
  const { id } = await harness.create("shop", { repos: [url], config: { install } });
  const build = await built(harness, id);
  if (!(await hasMachines(harness))) return expect(build.status).toBe("FAILED");
  expect(build.status).toBe("SUCCEEDED");
  const { text, run, agentId } = await runOf(harness, { repos: [{ url }] });
  expect(text).toContain("tool\\nhome\\nmodule\\nsingle\\nat the commit\\n");
  expect(run.environment).toMatchObject({
    source: "team",
    environmentId: id,
    name: "shop",
    buildId: build.id,
    commits: build.commits,
    reason: expect.stringContaining(`Build ${build.id} is the active one`),
  });
  const other = await runOf(harness, { repos: [{ url }] });
  expect(other.text).toContain("tool\\nhome\\nmodule\\nsingle\\n");
  const next = await harness.client.followUp(agentId, { prompt: { text: "again" } });
  expect((await outcome(harness.client, next)).run.environment).toMatchObject({ buildId: build.id });
});

test("install runs again only where the files that it depends on differ from those of the build", async () => {
  const harness = await openWithEnvironments("cat /opt/installs");
  const url = await harness.repository("shop", { "package.json": "{}", readme: "one" });
  const install = "cat package.json >> /opt/installs";
  const { id } = await harness.create("shop", { repos: [url], config: { install } });
  const build = await built(harness, id);
  if (!(await hasMachines(harness))) return expect(build.status).toBe("FAILED");
  await harness.client.send("PATCH", `/v1/environments/${id}`, { stalenessThresholdHours: 0 });
  await harness.commit(url, { readme: "two" });
  const same = await runOf(harness, { repos: [{ url }] });
  expect(same.text).toContain('"{}');
  expect(same.run.environment?.commits).not.toEqual(build.commits);
  await harness.commit(url, { "package.json": "[]" });
  expect((await runOf(harness, { repos: [{ url }] })).text).toContain("{}[]");
  await harness.client.send("PATCH", `/v1/environments/${id}`, { updateStaleBuilds: false });
  const pinned = await runOf(harness, { repos: [{ url }] });
  expect(pinned.run.environment?.commits).toEqual(build.commits);
  expect(pinned.text).toContain('"{}');
});

test("an agent is started in an environment by name, and from a build that failed; others do not see it", async () => {
  const harness = await openWithEnvironments("ls; cat /opt/half");
  const url = await harness.repository("shop", { file: "" });
  const { id } = await harness.create("Shop", { repos: [url], config: { install: "echo good > /opt/half" } });
  const good = await built(harness, id);
  if (!(await hasMachines(harness))) return expect(good.status).toBe("FAILED");
  const named = await runOf(harness, { env: { type: "cloud", name: "Shop" } });
  expect(named.text).toContain("file\\ngood\\n");
  expect(named.run.environment).toMatchObject({ source: "named", buildId: good.id });
  const environmentJson = JSON.stringify({ install: "echo half > /opt/half; exit 3" });
  await harness.client.send("PATCH", `/v1/environments/${id}`, { environmentJson });
  const bad = await built(harness, id);
  expect(bad.status).toBe("FAILED");
  expect(await harness.active(id)).toBe(good.id);
  const failed = await runOf(harness, { env: { type: "cloud", name: "Shop", buildId: bad.id } });
  expect(failed.text).toContain("file\\nhalf\\n");
  expect(failed.run.environment).toMatchObject({ buildId: bad.id, reason: expect.stringContaining("it is FAILED") });
  const prompt = { text: "x" };
  const missing = await harness.client.post("/v1/agents", { prompt, env: { type: "cloud", name: "none" } });
  expect(missing).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  expect(missing.text).toContain('no environment \\"none\\" that you can use');
  const both = await harness.client.post("/v1/agents", {
    prompt,
    repos: [{ url }],
    env: { type: "cloud", name: "Shop" },
  });
  expect(both.status).toBe(400);
});

test("the file of the repository at the starting commit counts, and a bad one is named with line and reason", async () => {
  const harness = await openWithEnvironments("cat /opt/mark; tail -n 1 /tmp/start.log");
  const file = { install: "echo from file > /opt/mark", start: "echo started; echo $((6 * 7))" };
  const url = await harness.repository("shop", { ".platform/environment.json": JSON.stringify(file) });
  if (!(await hasMachines(harness))) return;
  const own = await runOf(harness, { repos: [{ url }] });
  expect(own.text).toContain("from file\\n42\\n");
  expect(own.run.environment).toMatchObject({
    source: "repository_file",
    repoFile: { path: ".platform/environment.json" },
  });
  await harness.commit(url, { ".platform/environment.json": '{\n"instal": ""\n}' });
  const bad = await runOf(harness, { repos: [{ url }] });
  expect(bad.run.environment?.warnings?.[0]).toContain(".platform/environment.json:2:1: instal: unknown member");
});

test("a build whose programs lie about what install left has the server make nothing outside the agent's directory", async () => {
  const harness = await openWithEnvironments("ls -d plain");
  const { settings } = harness.fixture.platform;
  const { provider, limits } = openMachines(settings);
  if (!(await hasMachines(harness))) return;
  const images = openImages({ settings, provider, limits });
  const listed = ["d ./../../planted", "d ./shop/../../../planted", "d ./shop/plain"].map((entry) => `${entry}\\0`);
  images.setBase((await images.importArchive(await imageWithFind(`printf '${listed.join("")}'`), "root.tar")).digest);
  const url = await harness.repository("shop", { file: "" });
  const { id } = await harness.create("shop", { repos: [url], config: { install: "mkdir plain" } });
  expect(await built(harness, id)).toMatchObject({ status: "SUCCEEDED" });
  expect((await runOf(harness, { repos: [{ url }] })).text).toContain("plain\\n");
  const planted = [harness.dataDirectory, join(harness.dataDirectory, "workspaces")];
  for (const directory of planted) expect(readdirSync(directory)).not.toContain("planted");
});

/** A root directory with a shell and little more, whose `find` is this script. */
async function imageWithFind(script: string): Promise<Readable> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const programs = ["sh", "bash", "ls", "mkdir", "xargs", "tar", "cat", "dirname"].map((name) => `/usr/bin/${name}`);
  const libraries = [process.execPath, ...programs].flatMap((program) =>
    [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)].map(([, file = ""]) => file),
  );
  for (const file of new Set([...programs, ...libraries])) {
    mkdirSync(join(path, dirname(file)), { recursive: true });
    cpSync(file, join(path, file), { dereference: true });
  }
  symlinkSync("usr/bin", join(path, "bin"));
  for (const name of ["dev", "proc", "tmp", "run", "root", "etc"]) mkdirSync(join(path, name));
  writeFileSync(join(path, "usr/bin/find"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return Readable.from([execFileSync("tar", ["-C", path, "-c", "."], { maxBuffer: 1024 ** 3 })]);
}
