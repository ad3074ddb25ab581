// Builds of environments, executed with real processes in directories in place of machines.
import { writeFile } from "node:fs/promises";
import type { Build } from "@agentcli/protocol/api";
import { temporaryDirectory } from "@agentcli/testkit";
import { openDirectoryExecutor } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { appendLog } from "../../src/environments/builds/log.ts";
import { insertBuild } from "../../src/environments/builds/store.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { type EnvironmentHarness, openEnvironmentHarness } from "./environment-harness.ts";

const latest = async (harness: EnvironmentHarness, environmentId: string): Promise<Build> =>
  (await harness.builds(environmentId))[0] ?? expect.fail("no build");

const endedLatest = async (harness: EnvironmentHarness, environmentId: string): Promise<Build> =>
  harness.ended(await latest(harness, environmentId));

test("a build checks out the repositories, runs install, keeps its log and becomes active", async () => {
  const harness = await openEnvironmentHarness();
  const url = await harness.repository("shop", { "package.json": "{}" });
  const { id } = await harness.create("shop", { repos: [url], config: { install: "ls && echo installed" } });
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({ status: "SUCCEEDED", trigger: "CONFIG_CHANGE", draft: false, environmentId: id });
  expect(build.commits).toEqual([{ repoUrl: url.replace(/^http:\/\/|\.git$/g, ""), commit: expect.any(String) }]);
  expect(await harness.log(build)).toMatch(
    /^Repository \S+\/shop at [0-9a-f]{40}\nConfiguration of the environment\nChecking out\n\$ ls && echo installed\npackage\.json\ninstalled\n$/,
  );
  expect(await harness.active(id)).toBe(build.id);
});

test("without machines a build ends as failed and its log says what to do", async () => {
  const harness = await openEnvironmentHarness({ executor: null });
  const { id } = await harness.create("shop", { config: { install: "echo never" } });
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({
    status: "FAILED",
    failure: { type: "TERMINAL_FAILURE", code: "machines_unavailable" },
  });
  expect(await harness.log(build)).toContain(
    "Machines are not available on this server, so this build did not run. Ask an administrator to enable a machine provider",
  );
  expect(await harness.active(id)).toBeUndefined();
});

test("a failed install keeps the old build active and shows its log", async () => {
  const harness = await openEnvironmentHarness();
  const { id } = await harness.create("shop", { config: { install: "true" } });
  const good = await endedLatest(harness, id);
  await harness.client.send("PATCH", `/v1/environments/${id}`, {
    environmentJson: JSON.stringify({ install: "echo to stdout; echo broken >&2; exit 3" }),
  });
  const bad = await endedLatest(harness, id);
  expect(bad).toMatchObject({ status: "FAILED", trigger: "CONFIG_CHANGE", failure: { type: "INSTALL_FAILED" } });
  const log = await harness.log(bad);
  for (const line of ["to stdout", "broken", "install ended with 3"]) expect(log).toContain(`${line}\n`);
  expect(await harness.active(id)).toBe(good.id);
});

test("a machine that dies leaves a failed build with its log", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const harness = await openEnvironmentHarness({
    executor: openDirectoryExecutor(directory.path, { breakAt: "checkout" }),
  });
  const { id } = await harness.create("shop");
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({ status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "machine_failed" } });
  expect(await harness.log(build)).toMatch(/Checking out\nThe machine failed: the disk of the machine is gone\n$/);
});

test("a build for which the disk has no space fails with storage_full, and its log says what to do", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const harness = await openEnvironmentHarness({
    executor: openDirectoryExecutor(directory.path, { breakAt: "full disk" }),
  });
  const { id } = await harness.create("shop");
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({ status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "storage_full" } });
  expect(await harness.log(build)).toMatch(
    /The disk of the server is full\. Ask an administrator to free space, then trigger the build again\.\n$/,
  );
});

test("a bad environment.json of the repository fails the build and names line, column and member", async () => {
  const harness = await openEnvironmentHarness();
  const url = await harness.repository("shop", { ".platform/environment.json": '{\n  "instal": "true"\n}\n' });
  const { id } = await harness.create("shop", { repos: [url] });
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({
    status: "FAILED",
    failure: { type: "TERMINAL_FAILURE", code: "environment_json_invalid" },
  });
  expect(await harness.log(build)).toContain(
    "/shop: .platform/environment.json:2:3: instal: unknown member; remove it",
  );
});

test("a Dockerfile that copies the project fails the build and names its line", async () => {
  const harness = await openEnvironmentHarness();
  const url = await harness.repository("shop", {
    ".platform/environment.json": JSON.stringify({ build: { dockerfile: "Dockerfile", context: "." } }),
    ".platform/Dockerfile": "FROM debian:13\nCOPY . /workspace\n",
  });
  const { id } = await harness.create("shop", { repos: [url] });
  const build = await endedLatest(harness, id);
  expect(build).toMatchObject({ status: "FAILED", failure: { code: "environment_json_invalid" } });
  expect(await harness.log(build)).toContain(".platform/Dockerfile:2:1: COPY copies the project into the image.");
});

test("a touched README skips the recurring build, a touched lock file and a touched script rebuild", async () => {
  const harness = await openEnvironmentHarness();
  const url = await harness.repository("shop", {
    ".platform/environment.json": JSON.stringify({ install: "sh tools/setup.sh" }),
    "package-lock.json": "{}",
    "tools/setup.sh": "echo one",
  });
  const { id } = await harness.create("shop", { repos: [url], config: { install: "echo saved" } });
  const first = await endedLatest(harness, id);
  expect(await harness.log(first)).toContain("$ sh tools/setup.sh\none\n");
  const recur = async (files: Record<string, string>) => {
    const count = (await harness.builds(id)).length;
    if (Object.keys(files).length > 0) await harness.commit(url, files);
    await harness.makeDue(id);
    await expect.poll(async () => (await harness.builds(id)).length, { timeout: 120_000 }).toBe(count + 1);
    return endedLatest(harness, id);
  };
  const skipped = await recur({ "README.md": "# Shop\n" });
  expect(skipped).toMatchObject({ status: "SKIPPED", trigger: "RECURRING" });
  expect(await harness.log(skipped)).toContain(
    `Nothing that this environment depends on has changed since ${first.id}. Skipped.\n`,
  );
  expect(await harness.active(id)).toBe(first.id);
  const second = await recur({ "package-lock.json": "{ }" });
  expect(second).toMatchObject({ status: "SUCCEEDED", trigger: "RECURRING" });
  expect(await harness.active(id)).toBe(second.id);
  const third = await recur({ "tools/setup.sh": "echo two" });
  expect(third.status).toBe("SUCCEEDED");
  expect(harness.executor.begun).toEqual([first.id, second.id, third.id]);
  const { body } = await harness.client.get(`/v1/environments/${id}`);
  expect(body).toMatchObject({ repoFile: { url, path: ".platform/environment.json" } });
});

/** Its install waits for a file, so that a test decides when it goes on. */
const waiting = (file: string) => ({ install: `echo begun; until [ -e ${file} ]; do sleep 0.05; done; echo went on` });

async function openWaiting(harness: EnvironmentHarness, name: string) {
  const gate = `${harness.dataDirectory}/gate-${name}`;
  const environment = await harness.create(name, { config: waiting(gate) });
  const first = await latest(harness, environment.id);
  await expect.poll(() => harness.log(first), { timeout: 120_000 }).toContain("begun");
  return { id: environment.id, first, gate };
}

test("one build runs at a time, and of those that wait only the newest begins", async () => {
  const harness = await openEnvironmentHarness();
  const { id, first } = await openWaiting(harness, "shop");
  const older = await harness.trigger(id);
  const newer = await harness.trigger(id, {});
  expect(await harness.ended(older)).toMatchObject({ status: "CANCELLED" });
  expect(await harness.log(older)).toBe(`Not started: ${newer.id} was requested after it and replaces it.\n`);
  expect(harness.executor.begun).toEqual([first.id]);
  const cancelled = await harness.client.post(`/v1/environments/${id}/builds/${first.id}/cancel`);
  expect(cancelled.status).toBe(200);
  expect(await harness.ended(first)).toMatchObject({ status: "CANCELLED" });
  expect(await harness.log(first)).toMatch(/begun\n[\s\S]*Cancelled\.\n$/);
  await expect.poll(() => harness.executor.begun, { timeout: 120_000 }).toEqual([first.id, newer.id]);
  expect((await harness.client.post(`/v1/environments/${id}/builds/${newer.id}/cancel`)).status).toBe(200);
  expect(await harness.ended(newer)).toMatchObject({ status: "CANCELLED" });
  expect(await harness.active(id)).toBeUndefined();
});

const framesIn = (text: string): string[] =>
  text.split("\n\n").filter((frame) => frame !== "" && !frame.includes("event: heartbeat"));

test("the log of a running build is a stream that goes on until its end, and can be resumed", async () => {
  const harness = await openEnvironmentHarness();
  const { id, first, gate } = await openWaiting(harness, "shop");
  const headers = { authorization: `Bearer ${harness.client.key}`, accept: "text/event-stream" };
  const address = `${harness.client.url}/v1/environments/${id}/builds/${first.id}/logs`;
  const answer = await fetch(address, { headers });
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  await writeFile(gate, "");
  const frames = framesIn(await answer.text());
  expect(frames.slice(-2)).toEqual([
    `event: status\ndata: ${JSON.stringify({ buildId: first.id, status: "SUCCEEDED" })}`,
    "event: done\ndata: {}",
  ]);
  const pieces = frames.slice(0, -2).map((frame) => /^id: (\d+)\nevent: log\ndata: (.*)$/.exec(frame) ?? []);
  expect(pieces.map(([, , data]) => JSON.parse(data ?? "{}").text).join("")).toBe(await harness.log(first));
  const [, firstId = ""] = pieces[0] ?? [];
  const resumed = await fetch(address, { headers: { ...headers, "last-event-id": firstId } });
  expect(framesIn(await resumed.text())).toEqual(frames.slice(1));
  const wrong = await fetch(address, { headers: { ...headers, "last-event-id": "x" } });
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { code: "invalid_last_event_id" } }]);
});

test("a draft does not become active until it is activated, and its install is its own", async () => {
  const harness = await openEnvironmentHarness();
  const { id } = await harness.create("shop", { config: { install: "echo saved" } });
  const first = await endedLatest(harness, id);
  const draft = await harness.ended(await harness.trigger(id, { install: "echo tried" }));
  expect(draft).toMatchObject({ status: "SUCCEEDED", draft: true, trigger: "MANUAL" });
  expect(await harness.log(draft)).toContain("$ echo tried\ntried\n");
  expect(await harness.active(id)).toBe(first.id);
  const activated = await harness.client.post(`/v1/environments/${id}/builds/${draft.id}/activate`);
  expect([activated.status, activated.body]).toMatchObject([200, { id: draft.id, draft: false }]);
  expect(await harness.active(id)).toBe(draft.id);
});

/** The rows of a build whose server was killed after it wrote a line of its log. */
async function leaveStarted(harness: EnvironmentHarness, crashedServers: number): Promise<Build> {
  const { db, vault } = harness.fixture.platform;
  const { id: environmentId } = await harness.create("shop", { config: { install: "echo again" } });
  await endedLatest(harness, environmentId);
  const environment = await db
    .selectFrom("environments")
    .selectAll()
    .where("id", "=", environmentId)
    .executeTakeFirstOrThrow();
  const key = await teamKey(db, vault, environment.team_id);
  const id = await db.transaction().execute(async (tx) => {
    const build = await insertBuild(tx, { environment, key, trigger: "MANUAL", draft: false, requestedBy: null });
    const past = new Date(0);
    await appendLog(tx, { buildId: build.id, key }, "from the first server\n");
    await tx
      .updateTable("environment_builds")
      .set({ lease_owner: "gone", lease_until: past, started_at: past, crashed_servers: crashedServers })
      .where("id", "=", build.id)
      .execute();
    return build.id;
  });
  return harness.ended({ id, environmentId });
}

test("a build whose server was killed is taken over, and what is left of it is discarded", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const executor = openDirectoryExecutor(directory.path);
  const discarded: string[] = [];
  const discard = async (buildId: string) => void discarded.push(buildId);
  const harness = await openEnvironmentHarness({ executor: { ...executor, discard } });
  const build = await leaveStarted(harness, 0);
  expect(build.status).toBe("SUCCEEDED");
  expect(await harness.log(build)).toMatch(
    /^from the first server\nThe server that executed this build stopped\. It begins again\.\n[\s\S]*\$ echo again\nagain\n$/,
  );
  expect(discarded).toEqual([build.id]);
  expect(await harness.active(build.environmentId)).toBe(build.id);
});

test("a build that took three servers with it fails and says so", async () => {
  const harness = await openEnvironmentHarness();
  const build = await leaveStarted(harness, 2);
  expect(build).toMatchObject({ status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "server_lost" } });
  expect(await harness.log(build)).toBe(
    "from the first server\n3 servers in a row stopped while they executed this build. It is not tried again.\n",
  );
});

test("a server that stops hands its build back, so that another can continue it at once", async () => {
  const harness = await openEnvironmentHarness();
  const { first } = await openWaiting(harness, "shop");
  await harness.stop();
  const { db } = harness.fixture.platform;
  const row = await db.selectFrom("environment_builds").selectAll().where("id", "=", first.id).executeTakeFirst();
  expect(row).toMatchObject({ status: "IN_PROGRESS", lease_owner: null, lease_until: null, crashed_servers: 0 });
});
