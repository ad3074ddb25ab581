// Agents whose machines begin with the build of an environment.
import { expect, test } from "vitest";
import { built, hasMachines, openWithEnvironments, outcome, runOf } from "./machine-harness.ts";

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
