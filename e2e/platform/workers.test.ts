// Workers: agents whose commands run on machines that customers bring.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply, Script } from "@agentcli/testkit";
import {
  type PlatformClient,
  type ServedPlatform,
  servePlatformForTest,
  startTestWorker,
  type TestWorker,
  type TestWorkerOptions,
} from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const command = (cmd: string): Reply => ({ calls: [{ name: "exec_command", arguments: { cmd } }] });
const script = (...replies: Reply[]): Script => ({
  replies: [...replies, { messages: ["All done."] }],
  repeat: "last",
});

const startWorker = (
  { harness, server }: ServedPlatform,
  key: string,
  options: Partial<TestWorkerOptions> = {},
): TestWorker => startTestWorker({ url: server.url, key, directory: harness.directory, ...options });

const connected = (worker: TestWorker) => expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");

const agentFiles = (worker: TestWorker, agentId: string) => join(worker.data, "agents", agentId, "files");

async function branchOf(client: PlatformClient, agentId: string): Promise<unknown> {
  const { items } = await client.getJson<{ items: { git?: { branches: unknown[] } }[] }>(`/v1/agents/${agentId}/runs`);
  return items[0]?.git?.branches[0];
}

test("an agent on a machine of its user works there, and hands off its commit", async () => {
  const platform = await servePlatformForTest({
    replies: script(
      command(
        "pwd; cat README.md; echo made > made.txt; git add made.txt; git commit -qm 'Add made.txt'; git log -1 --format=%s",
      ),
      command("echo left >> README.md; echo kept > $PLATFORM_ARTIFACTS_DIR/report.txt"),
    ),
  });
  const client = await platform.client();
  const url = await platform.repository("shop", { "README.md": "Shop\n" });
  const worker = startWorker(platform, client.key, { args: ["--name", "laptop"] });
  await connected(worker);
  const ids = await client.create("work", { env: { type: "machine", name: "laptop" }, repos: [{ url }] });
  const frames = await client.stream(ids);
  const outputs = frames.filter(({ event, data }) => event === "tool_call" && data.status === "completed");
  expect(JSON.stringify(outputs[0]?.data)).toContain("/workspace/shop\\nShop\\nAdd made.txt");
  const run = await client.read(ids);
  expect(run).toMatchObject({ status: "FINISHED", result: "All done.", machine: { provider: "worker" } });
  expect(run.machine?.reason).toBe("worker laptop");
  expect(readFileSync(join(agentFiles(worker, ids.agentId), "shop/made.txt"), "utf8")).toBe("made\n");
  expect(await branchOf(client, ids.agentId)).toMatchObject({ branch: expect.stringContaining("platform/") });
  const diff = await client.get(`/v1/agents/${ids.agentId}/diff`);
  expect(diff.text).toContain("made.txt");
  expect(diff.text).toContain("+left");
  expect((await client.get(`/v1/agents/${ids.agentId}/artifacts`)).text).toContain("artifacts/report.txt");
});

test("a follow-up finds on the worker what the agent left there and what the platform has committed", async () => {
  const platform = await servePlatformForTest({
    replies: script(
      command("echo one > one.txt; echo cached > ~/cache"),
      { messages: ["First."] },
      command(
        "cat ~/cache one.txt; git status --short; git log --format=%s -1 | wc -l; rm one.txt; echo two > two.txt",
      ),
    ),
  });
  const client = await platform.client();
  const url = await platform.repository("shop", { "README.md": "Shop\n" });
  const worker = startWorker(platform, client.key);
  await connected(worker);
  const first = await client.create("work", { env: { type: "machine" }, repos: [{ url }] });
  expect(await client.waitForRun(first)).toMatchObject({ status: "FINISHED", result: "First." });
  const second = await client.followUp(first.agentId, "go on");
  const frames = await client.stream(second);
  expect(JSON.stringify(frames)).toContain("cached\\none\\n1\\n");
  expect(await client.read(second)).toMatchObject({ status: "FINISHED" });
  const diff = (await client.get(`/v1/agents/${first.agentId}/diff`)).text;
  expect(diff).toContain("two.txt");
  expect(diff).not.toContain("one.txt");
});

test("a pool serves the team with the key of a service account, and each worker one agent at a time", async () => {
  const done: Reply = { messages: ["All done."], when: { bodyIncludes: '"call_home"' } };
  const home: Reply = { calls: [{ name: "exec_command", arguments: { cmd: "echo $HOME" }, callId: "call_home" }] };
  const platform = await servePlatformForTest({ replies: { replies: [done, home], repeat: "always" } });
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  const refused = startWorker(platform, client.key, { args: ["--pool", "fast"] });
  expect((await refused.exited).code).toBe(3);
  expect(refused.log().join("\n")).toContain("A pool needs a key of a service account.");
  const worker = startWorker(platform, account, { args: ["--pool", "fast", "--name", "w1"] });
  await connected(worker);
  const env = { type: "pool", name: "fast" } as const;
  const all = await Promise.all(["a", "b", "c"].map((text) => client.create(text, { env })));
  for (const ids of all) {
    const run = await client.waitForRun(ids);
    expect(run).toMatchObject({
      status: "FINISHED",
      machine: { provider: "worker", reason: "worker w1 of the pool fast" },
    });
  }
  expect(all.map(({ agentId }) => existsSync(agentFiles(worker, agentId)))).toEqual([true, true, true]);
});

test("a worker whose key was revoked is disconnected, and gets no agent any more", async () => {
  const platform = await servePlatformForTest({ replies: script(command("echo $HOME")) });
  const client = await platform.client();
  const account = await platform.harness.key("--service-account");
  const worker = startWorker(platform, account, { args: ["--pool", "fast", "--name", "w1"] });
  await connected(worker);
  await platform.harness.run(["keys", "revoke", account.split("_")[1] ?? ""]);
  expect((await worker.exited).code).toBe(3);
  const ids = await client.create("work", { env: { type: "pool", name: "fast" } });
  expect(existsSync(agentFiles(worker, ids.agentId))).toBe(false);
});
