// Two servers with separate data directories and one object store. The one that holds the connection of a worker is killed in the
// middle of a command there: the other one goes on with the command, and what the run had done on the worker is not lost.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRelay } from "@agentcli/testkit";
import {
  type Cluster,
  type ClusterNode,
  openCluster,
  openForFile,
  openPlatformForFile,
  startTestWorker,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { oneCommand } from "./one-command.ts";
import { outputIn, readWithReconnects } from "./stream-reader.ts";

/** Changes, adds and removes files, waits until the test lets it go on, and looks at them again. */
const script = `
echo ran >> ran.txt
echo changed > README.md
rm old.txt
echo begun
while [ ! -e go ]; do sleep 0.05; done
echo "times: $(wc -l < ran.txt), $(cat README.md), old: $(ls old.txt 2>/dev/null)."
`;

const platform = openPlatformForFile({
  replies: oneCommand,
  env: { PLATFORM_LEASE_SECONDS: "2" },
});

const cluster = openForFile(
  async (): Promise<Cluster & { repository: string }> => {
    const opened = await openCluster(platform(), { names: ["first", "second"], data: "separate" });
    for (const node of opened.nodes) await node.start();
    const source = mkdtempSync(join(platform().directory, "shop-"));
    const files = { "README.md": "# Shop\n", "old.txt": "old\n", "test.sh": script };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
    return { ...opened, repository: await opened.output("repos", "create", "shop", "--from", source) };
  },
  ({ close }) => close(),
);

const readOr = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
const portOf = (node: ClusterNode): number => Number(new URL(node.server().url).port);

test("a server without the files of a run takes it over: its command goes on, and its work is kept", async () => {
  const [first, second] = cluster().nodes as [ClusterNode, ClusterNode];
  const relay = await openRelay(portOf(first));
  onTestFinished(relay.close);
  const directory = mkdtempSync(join(platform().directory, "worker-"));
  const { url, key } = { url: relay.url, key: first.client.key };
  const worker = startTestWorker({ url, key, directory, args: ["--name", "laptop"] });
  const connections = () => worker.log().filter((line) => line.includes("Waiting for agents.")).length;
  await expect.poll(connections).toBe(1);
  const ids = await second.client.create("test it", {
    ...{ env: { type: "machine", name: "laptop" }, repos: [{ url: cluster().repository }] },
  });
  const reading = readWithReconnects(second.client, ids);
  const row = "select lease_owner from runs where id = $1";
  const owner = async () => (await platform().database.query<{ lease_owner: string | null }>(row, [ids.runId]))[0];
  await expect.poll(async () => (await owner())?.lease_owner).toBe(first.id());
  const files = join(worker.data, "agents", ids.agentId, "files/shop");
  await expect.poll(() => readOr(join(files, "ran.txt"))).toBe("ran\n");
  relay.lead(portOf(second));
  first.fail("killed");
  await expect.poll(connections).toBeGreaterThan(1);
  await expect.poll(async () => (await owner())?.lease_owner).toBe(second.id());
  writeFileSync(join(files, "go"), "");
  const frames = await reading;
  expect(frames.find(({ event }) => event === "result")?.data).toMatchObject({ status: "FINISHED", text: "Done." });
  expect(outputIn(frames)).toBe("begun\ntimes: 1, changed, old: .\n");
  const { body } = await second.client.get(`/v1/agents/${ids.agentId}/diff`);
  const diff = JSON.stringify(body);
  for (const line of ["+ran", "+changed", "-old"]) expect(diff).toContain(line);
});
