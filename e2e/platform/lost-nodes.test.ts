// A server disappears together with its disk. With an object store, another one goes on with the files that agents had after
// their last finished step, also where they have machines, and says what is lost.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Reply, replyWith } from "@agentcli/testkit";
import { type ClusterNode, openCluster, openPlatformForTest, type RunIds } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

const runCommand = (id: string, cmd: string): Reply => ({
  calls: [{ name: "exec_command", arguments: { cmd }, callId: `call_${id}` }],
});

/** The last command of the first run goes on until its server is lost. */
const script: Reply[] = [
  { ...replyWith("Looked."), when: { bodyIncludes: '"call_look"' } },
  {
    ...runCommand("look", "cat settled.txt; git log --format=%s"),
    when: { bodyIncludes: "look again" },
  },
  { ...replyWith("Went on."), when: { bodyIncludes: '"call_stay"' } },
  { ...runCommand("stay", "echo begun > begun.txt; sleep 1000"), when: { bodyIncludes: '"call_work"' } },
  runCommand(
    "work",
    "mkdir -p /opt/tool 2> /dev/null; echo settled > settled.txt; git add . && git commit --quiet --message=Settled; echo made",
  ),
];

async function openNodes(env: Record<string, string>) {
  const harness = await openPlatformForTest({
    replies: { replies: script, repeat: "always" },
    env: { PLATFORM_LEASE_SECONDS: "5", ...env },
  });
  const cluster = await openCluster(harness, { names: ["first", "second"], data: "separate" });
  onTestFinished(() => cluster.close());
  const [first, second] = cluster.nodes as [ClusterNode, ClusterNode];
  await first.start();
  const source = mkdtempSync(join(harness.directory, "shop-"));
  writeFileSync(join(source, "README.md"), "# Shop\n");
  const repository = await cluster.output("repos", "create", "shop", "--from", source);
  return { database: harness.database, first, second, repository };
}

const outputOf = async ({ client }: ClusterNode, ids: RunIds): Promise<string> =>
  JSON.stringify((await client.stream(ids)).filter(({ event }) => event === "tool_call"));

test.each([
  { where: "in a machine", provider: "local", isMachine: true },
  { where: "on the host", provider: "host", isMachine: false },
])(
  "a node disappears with its disk while an agent works $where: another one goes on from the last finished step",
  async ({ provider, isMachine }) => {
    const { database, first, second, repository } = await openNodes({ PLATFORM_MACHINES_PROVIDER: provider });
    const ids = await first.client.create({ prompt: { text: "work" }, repos: [{ url: repository }] });
    const query = "select count(*)::int as count from frames where run_id = $1 and event = 'tool_call'";
    // Two frames for the call that has ended, and one for the call that runs.
    const count = async () => (await database.query<{ count: number }>(query, [ids.runId]))[0]?.count;
    await expect.poll(count).toBeGreaterThanOrEqual(3);
    first.fail("killed");
    await first.server().exited;
    rmSync(first.data, { recursive: true, force: true });
    await second.start();
    for (const time of ["data_directories set seen_at", "runs set created_at", "runs set lease_until"])
      await database.query(`update ${time} = now() - interval '16 minutes'`, []);
    const run = await second.client.waitForRun(ids);
    expect(run).toMatchObject({ status: "FINISHED", result: "Went on." });
    const lost = [expect.stringContaining("what it had installed or written outside /workspace is gone")];
    expect(run.environment?.warnings ?? []).toEqual(isMachine ? lost : []);
    const next = await second.client.followUp(ids.agentId, "look again");
    expect(await outputOf(second, next)).toMatch(/settled\\n(\w[^"]*\\n)?Settled\\n/);
  },
);
