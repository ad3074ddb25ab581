// Workers: agents whose commands run on machines that customers bring.
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { Reply, Script } from "@agentcli/testkit";
import {
  openPlatformForTest,
  type PlatformClient,
  type ServedPlatform,
  servePlatformForTest,
  startTestWorker,
  type TestWorker,
  type TestWorkerOptions,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

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

/** Passes bytes on to the server, and keeps those that the server sends. */
async function recordAnswers(port: number) {
  const sent: Buffer[] = [];
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [[near, far] as const, [far, near] as const])
      from.on("error", () => {}).on("close", () => to.destroy());
    near.pipe(far);
    far.on("data", (data) => sent.push(data)).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port: own } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${own}`, sent: () => Buffer.concat(sent) };
}

/** Addresses of TCP that the process, or one that it has started, listens on in the network of this machine. */
function listeningPorts(pid: number): string[] {
  const tables = ["tcp", "tcp6"].flatMap((name) =>
    readFileSync(`/proc/net/${name}`, "utf8").trim().split("\n").slice(1),
  );
  const listening = new Map(
    tables
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === "0A")
      .map(([, address = "", , , , , , , , inode]) => [`socket:[${inode}]`, address]),
  );
  return [pid, ...descendantsOf(pid)].flatMap((one) => {
    const directory = `/proc/${one}/fd`;
    return namesIn(directory).flatMap((fd) => listening.get(linkOf(join(directory, fd))) ?? []);
  });
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
};

/** None of a process that has ended meanwhile: a command of the test starts one after the other. */
const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

const childrenOf = (directory: string): string => {
  try {
    return readFileSync(join(directory, "children"), "utf8");
  } catch {
    return "";
  }
};

const descendantsOf = (pid: number): number[] =>
  namesIn(`/proc/${pid}/task`)
    .flatMap((task) => childrenOf(`/proc/${pid}/task/${task}`).trim().split(/\s+/))
    .filter((text) => text !== "")
    .flatMap((text) => [Number(text), ...descendantsOf(Number(text))]);

test("a worker listens on no port while a command runs, and no key of a model or of its own reaches it or the command", async () => {
  const harness = await openPlatformForTest({
    replies: script(command("env; touch ~/ready; while [ ! -e ~/go ]; do sleep 0.05; done")),
  });
  const modelKey = "sk-of-the-model-0123456789";
  const { scripted } = JSON.parse(harness.modelEnv.PLATFORM_MODEL_PROVIDERS ?? "");
  const providers = JSON.stringify({ scripted: { ...scripted, env_key: "SCRIPTED_API_KEY" } });
  const server = await harness.serve({ env: { PLATFORM_MODEL_PROVIDERS: providers, SCRIPTED_API_KEY: modelKey } });
  const client = await harness.client(server);
  const recording = await recordAnswers(Number(new URL(server.url).port));
  const worker = startTestWorker({ url: recording.url, key: client.key, directory: harness.directory });
  await connected(worker);
  const ids = await client.create("work", { env: { type: "machine" } });
  const home = join(agentFiles(worker, ids.agentId), ".home");
  await expect.poll(() => existsSync(join(home, "ready"))).toBe(true);
  // This process listens: in the place of the platform.
  expect(listeningPorts(process.pid)).not.toEqual([]);
  expect(listeningPorts(worker.child.pid ?? 0)).toEqual([]);
  writeFileSync(join(home, "go"), "");
  const frames = JSON.stringify(await client.stream(ids));
  expect(frames).toContain("PLATFORM_ARTIFACTS_DIR=");
  expect(frames).not.toContain(client.key);
  // The model was asked with this key, and the worker got the command of the model.
  expect(JSON.stringify(harness.requests())).toContain(modelKey);
  expect(recording.sent().includes("touch ~/ready")).toBe(true);
  expect(recording.sent().includes(modelKey)).toBe(false);
});
