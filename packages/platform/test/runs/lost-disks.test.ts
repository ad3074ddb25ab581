// Agents whose files are in a data directory that no server has any more, or in a store that is away.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { startFakeS3 } from "@agentcli/testkit/s3";
import { expect, onTestFinished, test } from "vitest";
import { copyRetention } from "../../src/agents/retention.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const goneId = "a data directory that is gone";

/** An agent with one finished run, whose files are in another data directory. */
async function openLost(): Promise<RunHarness & { agentId: string }> {
  const harness = await openRunHarness({ replies: { replies: [replyWith("Done.")], repeat: "always" } });
  const ids = await harness.client.create({ prompt: { text: "go" } });
  await harness.client.stream(ids);
  await harness.fixture.platform.db
    .updateTable("agent_disks")
    .set({ data_id: goneId, node_name: "node-b", is_bound: true })
    .execute();
  return { ...harness, agentId: ids.agentId };
}

const diskOf = ({ fixture }: RunHarness) =>
  fixture.platform.db.selectFrom("agent_disks").select(["data_id", "is_bound"]).execute();

test("a follow-up waits for the server with the files, then begins with what was pushed and says so", async () => {
  const harness = await openLost();
  const { client, fixture, agentId, dataDirectory } = harness;
  const [name = ""] = readdirSync(join(dataDirectory, "workspaces"));
  const old = join(dataDirectory, "workspaces", name, "old.txt");
  writeFileSync(old, "from when this server had the agent last");
  const ids = await client.followUp(agentId, "go on");
  expect(await client.read(ids)).toMatchObject({
    status: "CREATING",
    queue: { reason: "The files of this agent are on node-b, which takes the run." },
  });
  const waited = new Date(Date.now() - 16 * 60_000);
  await fixture.platform.db.updateTable("runs").set({ created_at: waited }).where("id", "=", ids.runId).execute();
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  const warnings = frames.filter(({ data }) => data.name === "warning");
  expect(JSON.stringify(warnings)).toContain("were on node-b, which has not been there for 15 minutes");
  expect((await diskOf(harness))[0]?.data_id).not.toBe(goneId);
  expect(existsSync(old)).toBe(false);
});

test("a run that is cancelled while it waits for its server leaves the files to that server", async () => {
  const harness = await openLost();
  const { client, agentId } = harness;
  const ids = await client.followUp(agentId, "go on");
  const answer = await client.post(`/v1/agents/${agentId}/runs/${ids.runId}/cancel`, {});
  expect(answer.status).toBe(200);
  expect((await client.read(ids)).status).toBe("CANCELLED");
  expect(await diskOf(harness)).toEqual([{ data_id: goneId, is_bound: true }]);
});

test("a run whose files cannot be saved after its hand-off ends with its result", async () => {
  const s3 = await startFakeS3();
  onTestFinished(() => s3.close());
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = s3;
  const { client } = await openRunHarness({
    replies: [replyWith("Done.")],
    settings: {
      objectStore: {
        ...{ kind: "s3", endpoint, region, bucket, prefix: "" },
        ...{ accessKeyVariable: "KEY", secretKeyVariable: "SECRET", sessionTokenVariable: "TOKEN" },
      },
      variables: { PATH: process.env.PATH, KEY: accessKeyId, SECRET: secretAccessKey },
    },
  });
  s3.failNext(1_000, 403);
  const ids = await client.create({ prompt: { text: "go" } });
  await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  expect(s3.objects.size).toBe(0);
});

test("a server with a copy of a data directory fetches what another one has saved since", async () => {
  const store = await temporaryDirectory();
  onTestFinished(() => store.remove());
  const { client, dataDirectory } = await openRunHarness({
    replies: { replies: [replyWith("Done.")], repeat: "always" },
    settings: { objectStore: { kind: "directory", path: store.path } },
  });
  const ids = await client.create({ prompt: { text: "go" } });
  await client.stream(ids);
  const [name = ""] = readdirSync(join(dataDirectory, "workspaces"));
  const old = join(dataDirectory, "workspaces", name, "old.txt");
  writeFileSync(old, "old");
  writeFileSync(join(dataDirectory, "disks", `${name}.json`), JSON.stringify({ saveId: "older", entries: [] }));
  const next = await client.followUp(ids.agentId, "go on");
  await client.stream(next);
  expect((await client.read(next)).status).toBe("FINISHED");
  expect(existsSync(old)).toBe(false);
});

test("a deleted agent leaves no list of its files, and a server that had a copy of them removes it", async () => {
  const store = await temporaryDirectory();
  onTestFinished(() => store.remove());
  const { client, dataDirectory, fixture } = await openRunHarness({
    replies: { replies: [replyWith("Done.")], repeat: "always" },
    settings: { objectStore: { kind: "directory", path: store.path } },
  });
  const [deleted, kept] = [await client.create("go"), await client.create("go")];
  for (const ids of [deleted, kept]) await client.waitForRun(ids);
  const files = () => ["disks", "workspaces"].flatMap((name) => readdirSync(join(dataDirectory, name))).sort();
  const before = files();
  expect(before).toHaveLength(4);
  expect((await client.delete(`/v1/agents/${deleted.agentId}`)).status).toBe(200);
  const left = files();
  expect(left).toHaveLength(2);
  // As another server leaves it.
  mkdirSync(join(dataDirectory, "workspaces/bc-elsewhere"));
  writeFileSync(join(dataDirectory, "disks/bc-elsewhere.json"), "{}");
  const workspaces = { remove: (name: string) => rm(join(dataDirectory, "workspaces", name), { recursive: true }) };
  const rule = copyRetention({ platform: fixture.platform, workspaces });
  const removed: number[] = [];
  for await (const count of rule.remove()) removed.push(count);
  expect(removed).toEqual([1]);
  expect(files()).toEqual(left);
});
