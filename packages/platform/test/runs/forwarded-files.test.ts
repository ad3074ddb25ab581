// Two servers with a data directory each and no object store: files of an agent are read through either.
import { rmSync } from "node:fs";
import { call, replyWith } from "@agentcli/testkit";
import { openClient, type PlatformClient } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { serve } from "../../src/serve.ts";
import { newDataDirectory, openRunHarness } from "./run-harness.ts";

test("the diff and the artifacts of an agent are read through a server that does not have its files", async () => {
  const cmd = "echo changed > new.txt; echo kept > ../.artifacts/log.txt";
  const { client, fixture, repository, stop } = await openRunHarness({
    replies: [call("exec_command", { cmd }), replyWith("Done.")],
  });
  const ids = await client.create("go", { repos: [{ url: await repository("shop", { "README.md": "# Shop" }) }] });
  expect(await client.waitForRun(ids)).toMatchObject({ status: "FINISHED" });
  await stop();
  const settings = { ...fixture.platform.settings, databaseUrl: fixture.databaseUrl };
  await start(settings);
  const dataDirectory = newDataDirectory();
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const url = await start({ ...settings, roles: ["api"], dataDirectory });
  const other = openClient(url, fixture.key);
  const path = `/v1/agents/${ids.agentId}/diff`;
  const { items } = await other.getJson<{ items: { patch: string; repoUrl: string }[] }>(path);
  expect(items).toMatchObject([{ patch: expect.stringContaining("+changed") }]);
  const whole = await other.get(`${path}?${new URLSearchParams({ repository: items[0]?.repoUrl ?? "" })}`);
  expect(whole.text).toContain("+changed");
  expect(await readArtifact(other, ids.agentId)).toBe("kept\n");
});

/** As a process of its own has it: with an id that other servers see. */
async function start(settings: Settings): Promise<string> {
  const server = await serve(await openPlatformContext(settings, silentLog));
  onTestFinished(server.stop);
  return server.url;
}

async function readArtifact({ url: own, getJson }: PlatformClient, agentId: string): Promise<string> {
  const { url } = await getJson<{ url: string }>(`/v1/agents/${agentId}/artifacts/download?path=artifacts/log.txt`);
  return (await fetch(own + new URL(url).pathname)).text();
}
