// Hooks of a project on a worker: at the claim and at the release, once for all runs between.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { servePlatformForTest, startTestWorker } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const hooks = {
  version: 1,
  hooks: {
    sessionStart: [{ command: "cat >> started.jsonl; echo '{}'" }],
    sessionEnd: [{ command: 'cat >> ended.jsonl; echo "$PLATFORM_PROJECT_DIR" >> ended.txt' }],
  },
};

test("sessionStart runs when an agent claims the worker, and sessionEnd when the worker ends, not with each run", async () => {
  const platform = await servePlatformForTest({ replies: { replies: [{ messages: ["Done."] }], repeat: "always" } });
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  const url = await platform.repository("shop", { ".platform/hooks.json": JSON.stringify(hooks) });
  const worker = startTestWorker({
    ...{ url: platform.server.url, key: account, directory: platform.harness.directory, args: ["--pool", "fast"] },
  });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  const first = await client.create("work", { env: { type: "pool", name: "fast" }, repos: [{ url }] });
  expect(await client.waitForRun(first)).toMatchObject({ status: "FINISHED" });
  const second = await client.followUp(first.agentId, "go on");
  expect(await client.waitForRun(second)).toMatchObject({ status: "FINISHED" });
  const files = join(worker.data, "agents", first.agentId, "files/shop");
  const lines = (name: string) => readFileSync(join(files, name), "utf8").trim().split("\n");
  expect(lines("started.jsonl").map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ hook_event_name: "sessionStart", is_background_agent: true, repo_urls: [url] },
      repos: [{ repo_url: url, primary: true }],
    },
  ]);
  expect(existsSync(join(files, "ended.jsonl"))).toBe(false);
  await worker.stop();
  expect(lines("ended.txt")).toEqual(["/workspace/shop"]);
  expect(lines("ended.jsonl").map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ hook_event_name: "sessionEnd", conversation_id: first.agentId, reason: "completed" },
      duration_ms: expect.any(Number),
    },
  ]);
});
