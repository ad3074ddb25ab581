// Artifacts that could not be kept: listed on the run, without harm to the others, and tried again.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../src/pages/index.ts";
import { openArtifacts } from "../../src/runs/artifacts/index.ts";
import { logIn, openBrowser } from "../harness/browser.ts";
import { noRateLimits } from "../harness/settings.ts";
import { openRunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

interface Listed {
  items: { path: string }[];
}

test("an artifact that is too large is listed on the run and on its page, and the others are kept", async () => {
  const { client, fixture } = await openRunHarness({
    replies: [
      shell('cd "$PLATFORM_ARTIFACTS_DIR" && truncate -s 201M a-large && echo kept > b-small'),
      replyWith("Done."),
    ],
  });
  const ids = await client.create({ prompt: { text: "make files" } });
  const run = await client.waitForRun(ids);
  const large = { path: "artifacts/a-large", reason: "too_large", message: expect.stringContaining("200 MiB") };
  expect(run).toMatchObject({ status: "FINISHED", unsavedArtifacts: [large] });
  const { items } = await client.getJson<Listed>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/b-small"]);
  const browser = openBrowser(client.url);
  await logIn(browser, await loginLink(fixture.platform, client.url));
  const { html } = await browser.get(`/agents/${ids.agentId}`);
  expect(html).toContain("Not kept: artifacts/a-large: It is larger than 200 MiB.");
});

test("a file with many names fills no disk as artifacts: all of an agent together have its limit, also those of later runs", async () => {
  const make = shell(
    'cd "$PLATFORM_ARTIFACTS_DIR" && head -c 3000000 /dev/urandom > a && ln a b && ln a c && ln a d && touch z',
  );
  const again = shell('cd "$PLATFORM_ARTIFACTS_DIR" && rm -f c d && head -c 3000000 /dev/urandom > e');
  const { client } = await openRunHarness({
    replies: [make, replyWith("Done."), again, replyWith("Done.")],
    models: { limits: { disk: "8m" } },
  });
  const ids = await client.create({ prompt: { text: "make files" } });
  const unsaved = (name: string) => ({
    path: `artifacts/${name}`,
    reason: "too_large",
    message: expect.stringContaining("limits.disk"),
  });
  expect((await client.waitForRun(ids)).unsavedArtifacts).toEqual([unsaved("c"), unsaved("d")]);
  const second = await client.followUp(ids.agentId, "and another one");
  expect((await client.waitForRun(second)).unsavedArtifacts).toEqual([unsaved("e")]);
  const { items } = await client.getJson<Listed>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/a", "artifacts/b", "artifacts/z"]);
});

test("of thousands of files a run keeps so many, and names one of the others", async () => {
  const { client } = await openRunHarness({
    replies: [shell('cd "$PLATFORM_ARTIFACTS_DIR" && seq -w 3000 | xargs touch'), replyWith("Done.")],
  });
  const run = await client.waitForRun(await client.create({ prompt: { text: "make files" } }));
  expect(run.unsavedArtifacts).toMatchObject([{ path: "artifacts/1001", reason: "too_many" }]);
});

test("large artifacts are downloaded a few at once, because each is in memory until its reader has it", async () => {
  const { client, fixture } = await openRunHarness({
    replies: [replyWith("Done.")],
    settings: { rateLimits: { ...noRateLimits, concurrentRequests: 100 } },
  });
  const ids = await client.create({ prompt: { text: "hello" } });
  await client.waitForRun(ids);
  const { db, vault } = fixture.platform;
  const { data_key, directory } = await db
    .selectFrom("agents")
    .select(["data_key", "directory"])
    .where("id", "=", ids.agentId)
    .executeTakeFirstOrThrow();
  const owner = { agent: { id: ids.agentId, directory }, key: await vault.unwrap(data_key) };
  await openArtifacts(fixture.platform).store(owner, "film", Buffer.alloc(180 * 1024 * 1024));
  const link = `/v1/agents/${ids.agentId}/artifacts/download?path=artifacts/film`;
  const { url } = await client.getJson<{ url: string }>(link);
  // Not read to their end.
  const [first, second] = [await fetch(url), await fetch(url)];
  expect([first.status, second.status, (await fetch(url)).status]).toEqual([200, 200, 429]);
  await Promise.all([first.body?.cancel(), second.body?.cancel()]);
});

test("artifacts in a path too long for the kernel, and without permissions, are kept; others are listed on the run", async () => {
  const deeper =
    "name=$(printf d%.0s $(seq 250)); for level in $(seq 20); do mkdir $name && cd $name; done; echo deep > deep";
  const { client } = await openRunHarness({
    replies: [
      shell(`cd "$PLATFORM_ARTIFACTS_DIR" && echo a > a && mkdir closed && echo b > closed/b && chmod 0 closed/b closed
printf x > "$(printf 'not-text-\\377')"; ${deeper}`),
      replyWith("Done."),
    ],
  });
  const ids = await client.create({ prompt: { text: "make files" } });
  const run = await client.waitForRun(ids);
  expect(run.unsavedArtifacts).toMatchObject([{ path: "artifacts/not-text-\ufffd", reason: "failed" }]);
  const { items } = await client.getJson<Listed>(`/v1/agents/${ids.agentId}/artifacts`);
  const deep = expect.stringMatching(/^artifacts\/(?:d{250}\/){20}deep$/);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/a", "artifacts/closed/b", deep]);
  // The harness could not remove such a path.
  await client.delete(`/v1/agents/${ids.agentId}`);
});

test("artifacts that could not be stored are listed on the run, and kept as soon as they can be", async () => {
  const { client, dataDirectory } = await openRunHarness({
    replies: [shell('cd "$PLATFORM_ARTIFACTS_DIR" && echo one > one && echo two > two'), replyWith("Done.")],
  });
  const obstacle = join(dataDirectory, "artifacts");
  writeFileSync(obstacle, "a file where the directory should be");
  const ids = await client.create({ prompt: { text: "make files" } });
  expect(await client.waitForRun(ids)).toMatchObject({
    status: "FINISHED",
    unsavedArtifacts: [
      { path: "artifacts/one", reason: "failed" },
      { path: "artifacts/two", reason: "failed" },
    ],
  });
  rmSync(obstacle);
  await expect.poll(async () => (await client.read(ids)).unsavedArtifacts).toBeUndefined();
  const { items } = await client.getJson<Listed>(`/v1/agents/${ids.agentId}/artifacts`);
  expect(items.map(({ path }) => path)).toEqual(["artifacts/one", "artifacts/two"]);
});
