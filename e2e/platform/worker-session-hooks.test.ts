// Hooks of a project on a worker: at the claim and at the release, once for all runs between.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openClient, servePlatformForTest, startTestWorker } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const hooks = {
  version: 1,
  hooks: {
    sessionStart: [{ command: "cat >> started.jsonl; echo '{}'" }],
    sessionEnd: [{ command: 'cat >> ended.jsonl; echo "$PLATFORM_PROJECT_DIR" >> ended.txt' }],
  },
};

async function openShop() {
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
  const files = join(worker.data, "agents", first.agentId, "files/shop");
  const lines = (name: string): string[] => {
    const path = join(files, name);
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  };
  return { platform, client, worker, account, url, first, lines };
}

test("sessionEnd runs when the agent releases the worker, which stays, and not again when that ends", async () => {
  const { platform, worker, account, first, lines } = await openShop();
  expect(lines("ended.jsonl")).toEqual([]);
  const controller = openClient(platform.server.url, account);
  const released = await controller.send("POST", `/v1/workers/claims/${first.agentId}/release`);
  expect(released.status).toBe(200);
  await expect.poll(() => lines("ended.jsonl")).toHaveLength(1);
  expect(worker.child.exitCode).toBeNull();
  await worker.stop();
  expect(lines("ended.jsonl")).toHaveLength(1);
});

test("sessionStart runs when an agent claims the worker, and sessionEnd when the worker ends, not with each run", async () => {
  const { client, worker, url, first, lines } = await openShop();
  const second = await client.followUp(first.agentId, "go on");
  expect(await client.waitForRun(second)).toMatchObject({ status: "FINISHED" });
  expect(lines("started.jsonl").map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ hook_event_name: "sessionStart", is_background_agent: true, repo_urls: [url] },
      repos: [{ repo_url: url, primary: true }],
    },
  ]);
  expect(lines("ended.jsonl")).toEqual([]);
  await worker.stop();
  expect(lines("ended.txt")).toEqual(["/workspace/shop"]);
  expect(lines("ended.jsonl").map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ hook_event_name: "sessionEnd", conversation_id: first.agentId, reason: "completed" },
      duration_ms: expect.any(Number),
    },
  ]);
});
