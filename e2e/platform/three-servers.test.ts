// Three servers with separate data directories, one PostgreSQL and one object store. One of them is killed, paused or cut off
// from the database in the middle of a run: another one finishes it, once, with the files of the agent.
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, type Reply, replyWith, sampleOf } from "@agentcli/testkit";
import {
  type Cluster,
  type ClusterNode,
  type NodeFailure,
  openCluster,
  openForFile,
  openPlatformForFile,
  type RunIds,
} from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { expectExactlyOnce, settledIn, stdoutOf, stepCount, stepsScript, storedFrames } from "./steps.ts";
import { readWithReconnects } from "./stream-reader.ts";

/** Each step also adds its line to an artifact. The one named by STOP_AT then goes on until its server is lost. */
function script(): Reply[] {
  const then = (step: number) => `echo step ${step} >> ../.artifacts/log.txt; [ "$STOP_AT" != ${step} ] || sleep 120`;
  const look: Reply = { calls: [{ name: "exec_command", arguments: { cmd: "cat steps.txt" }, callId: "call_look" }] };
  return [
    { ...replyWith("Looked."), when: { bodyIncludes: '"call_look"' } },
    { ...look, when: { bodyIncludes: "look again" } },
    ...stepsScript(then),
  ];
}

const platform = openPlatformForFile({
  replies: { replies: script(), repeat: "always" },
  env: { PLATFORM_LEASE_SECONDS: "5" },
});

const cluster = openForFile(
  async (): Promise<Cluster & { repository: string }> => {
    const opened = await openCluster(platform(), { names: ["first", "second", "third"], data: "separate" });
    for (const node of opened.nodes) await node.start();
    const source = mkdtempSync(join(platform().directory, "shop-"));
    writeFileSync(join(source, "README.md"), "# Shop\n");
    return { ...opened, repository: await opened.output("repos", "create", "shop", "--from", source) };
  },
  ({ close }) => close(),
);

const git = promisify(execFile);

/** What the repository has on this branch, as this server serves it. */
async function show({ client }: ClusterNode, branch: string, file: string): Promise<string> {
  const url = new URL(cluster().repository);
  const address = client.url.replace("://", `://x:${client.key}@`) + url.pathname;
  const directory = mkdtempSync(join(platform().directory, "clone-"));
  await git("git", ["clone", "-q", "--branch", branch, address, directory]);
  return (await git("cat", [join(directory, file)])).stdout;
}

const ownerOf = async ({ runId }: RunIds): Promise<string | null> => {
  const query = "select lease_owner from runs where id = $1";
  return (await platform().database.query<{ lease_owner: string | null }>(query, [runId]))[0]?.lease_owner ?? null;
};

async function reach(ids: RunIds, settled: number): Promise<void> {
  const query = "select count(*)::int as count from frames where run_id = $1 and event = 'tool_call'";
  await eventually(async () => {
    const [row] = await platform().database.query<{ count: number }>(query, [ids.runId]);
    // Two frames for each call that has ended, and one for the call that runs.
    return (row?.count ?? 0) >= 2 * settled + 1;
  });
}

const failures: NodeFailure[] = ["killed", "paused", "partitioned"];
const all = failures.flatMap((failure) => Array.from({ length: stepCount }, (_, settled) => ({ failure, settled })));

test.each(sampleOf(all, { every: 5 }))(
  "a server is $failure after $settled steps, and another one finishes",
  async ({ failure, settled }) => {
    const { nodes, nodeOf, repository } = cluster();
    const { database } = platform();
    const [any] = nodes;
    const ids = (await any?.client.create({
      prompt: { text: "do four things" },
      repos: [{ url: repository }],
      autoCreatePR: true,
      envVars: { STOP_AT: String(settled + 1) },
    })) as RunIds;
    await reach(ids, settled);
    const victim = nodeOf(await ownerOf(ids));
    const others = nodes.filter((node) => node !== victim);
    const [witness, last] = others as [ClusterNode, ClusterNode];
    const reader = readWithReconnects(witness.client, ids);
    victim.fail(failure);
    const frames = await reader;
    const run = await witness.client.read(ids);
    const log = others.flatMap(({ server }) => server().log().slice(-5)).join("\n");
    expect(run, log).toMatchObject({ status: "FINISHED", result: "All done." });
    const { lines, unknown } = await expectExactlyOnce(database, ids, frames);
    expect(unknown).toBeLessThanOrEqual(1);
    const branch = run.git?.branches?.[0]?.branch ?? expect.fail("no branch");
    const expectLines = async (node: ClusterNode) => {
      expect((await show(node, branch, "steps.txt")).trim().split("\n")).toEqual(lines);
      expect((await artifactOf(node, ids)).trim().split("\n")).toEqual(lines);
      expect(await diffOf(node, ids)).toContain(`+${lines.at(-1)}`);
    };
    for (const node of others) await expectLines(node);
    await victim.recover(failure);
    // It takes part again, and has written nothing on.
    await eventually(async () => (await victim.client.get("/v1/me").catch(() => null))?.status === 200);
    await expectLines(victim);
    const next = await last.client.followUp(ids.agentId, "look again");
    const looked = settledIn(await readWithReconnects(last.client, next));
    expect(stdoutOf(looked.at(-1))).toEqual(lines);
    expect((await storedFrames(database, ids)).length).toBe(frames.length);
  },
);

/** Also where the node does not have the files. */
async function diffOf({ client }: ClusterNode, { agentId }: RunIds): Promise<string> {
  const { items } = await client.getJson<{ items: { patch: string }[] }>(`/v1/agents/${agentId}/diff`);
  return items.map(({ patch }) => patch).join("\n");
}

async function artifactOf({ client }: ClusterNode, { agentId }: RunIds): Promise<string> {
  const path = "artifacts/log.txt";
  const { url } = await client.getJson<{ url: string }>(`/v1/agents/${agentId}/artifacts/download?path=${path}`);
  return (await fetch(client.url + new URL(url).pathname)).text();
}
