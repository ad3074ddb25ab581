// A server is lost at a statement that changes the database, in the middle of a run with every kind of call: the next
// server ends the run with each effect once. As one server that is started again, and as three with a data directory each.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { call, eventually, type Reply, replyWith, sampleOf } from "@agentcli/testkit";
import {
  type Cluster,
  type ClusterNode,
  type NodeFailure,
  openCluster,
  openPlatform,
  type PlatformClient,
  type PlatformHarness,
  type RunIds,
  type StreamFrame,
} from "@agentcli/testkit/platform";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWithReconnects } from "./stream-reader.ts";

const usage = { inputTokens: 1000, cachedInputTokens: 0, outputTokens: 100 };
const steps = ["command", "patch", "spawn", "wait", "last"] as const;

/** The model goes by what it has asked for, not by luck: it says the same however often it is asked. */
function script(): Reply[] {
  const patch = "*** Begin Patch\n*** Add File: patched.txt\n+patched\n*** End Patch";
  const asked: Record<(typeof steps)[number], Reply> = {
    command: call("exec_command", { cmd: "echo command >> journal.txt" }),
    patch: call("apply_patch", { input: patch }),
    spawn: call("spawn_agent", { message: "count the files", agent_type: "counter" }),
    wait: call("wait_agent", { targets: ["counter"] }),
    last: call("exec_command", { cmd: "echo last >> journal.txt" }),
  };
  const named = steps.map((step) => {
    const { calls = [] } = asked[step] as { calls?: object[] };
    return { calls: calls.map((each) => ({ ...each, callId: `call_${step}` })), usage } as Reply;
  });
  const after = (step: string, reply: Reply): Reply => ({ ...reply, when: { bodyIncludes: `"call_${step}"` } });
  const later = steps.map((step, index) =>
    after(step, named[index + 1] ?? replyWith("All done.", { usage, deltas: 8 })),
  );
  const child: Reply = { ...replyWith("Three files.", { usage }), when: { bodyIncludes: "You count things." } };
  return [child, ...later.toReversed(), ...named.slice(0, 1)];
}

interface Fault {
  failure: NodeFailure;
  when: "before" | "sent";
  at: number;
}

interface Outcome {
  ids: RunIds;
  frames: StreamFrame[];
  /** Of the server that made most of them. */
  statements: number;
}

const body = (agentId: string, repository: string) => ({
  agentId,
  name: agentId,
  prompt: { text: "do five things" },
  repos: [{ url: repository }],
  autoCreatePR: true,
  customSubagents: [{ name: "counter", description: "Counts.", prompt: "You count things." }],
});

/** The same agent however often it is asked for: the id is the caller's. */
async function create(client: PlatformClient, repository: string): Promise<RunIds> {
  const agentId = `bc-${randomUUID()}`;
  for (;;) {
    const answer = await client.send("POST", "/v1/agents", body(agentId, repository)).catch(() => null);
    if (answer?.status === 200) return { agentId, runId: JSON.parse(answer.text).run.id };
    if (answer?.status === 409) {
      // The server may be lost between the two requests.
      const found = await client.send("GET", `/v1/agents/${agentId}`).catch(() => null);
      if (found?.status === 200) return { agentId, runId: JSON.parse(found.text).latestRunId };
    }
    await pause(20);
  }
}

const isAlive = ({ child }: ReturnType<ClusterNode["server"]>): boolean =>
  child.exitCode === null && child.signalCode === null;

const run = promisify(execFile);

const faults = (failures: NodeFailure[], most: number): Fault[] =>
  failures.flatMap((failure) =>
    Array.from({ length: most }, (_, index) => index + 1).flatMap((at) =>
      (["before", "sent"] as const).map((when): Fault => ({ failure, when, at })),
    ),
  );

const topologies = [
  { servers: "one server", names: ["first"], data: "shared", all: faults(["killed"], 60), each: 17 },
  {
    servers: "three servers with a data directory each",
    names: ["first", "second", "third"],
    data: "separate",
    all: faults(["killed", "paused", "partitioned"], 60),
    each: 67,
  },
] as const;

describe.each(topologies)("$servers", ({ names, data, all, each }) => {
  let harness: PlatformHarness;
  let cluster: Cluster;
  let repository: string;
  beforeAll(async () => {
    harness = await openPlatform({
      replies: { replies: script(), repeat: "always" },
      env: names.length > 1 ? { PLATFORM_LEASE_SECONDS: "2" } : {},
    });
    cluster = await openCluster(harness, { names, data, killable: true });
    for (const node of cluster.nodes) await node.start();
    const source = mkdtempSync(join(harness.directory, "sample-"));
    writeFileSync(join(source, "README.md"), "# Sample\n");
    repository = await cluster.output("repos", "create", "sample", "--from", source);
  });
  afterAll(async () => {
    await cluster.close();
    await harness.close();
  });

  /** Settles with the events of a reader connected from the beginning. Every server that reaches the statement is lost there. */
  async function runWithFault({ at, when, failure }: Fault): Promise<Outcome> {
    const signal = failure === "killed" ? "SIGKILL" : "SIGSTOP";
    for (const node of cluster.nodes) await node.server().killAt(at, when, signal);
    const state = { isOver: false };
    const watching = cluster.nodes.map((node) => recoverLost(node, failure, state));
    const [{ client }] = cluster.nodes as [ClusterNode];
    const ids = await create(client, repository);
    const frames = await readWithReconnects(client, ids);
    const statements = Math.max(...cluster.nodes.map((node) => node.server().statementCount() || 0));
    // While lost ones are still recovered: an idle server may reach the statement just now.
    for (const node of cluster.nodes) await eventually(() => isDisarmed(node));
    state.isOver = true;
    await Promise.all(watching);
    return { ids, frames, statements };
  }

  /** False where it was lost meanwhile. */
  const isDisarmed = ({ server }: ClusterNode): Promise<boolean> =>
    server()
      .killAt(0, "before")
      .then(
        () => true,
        () => false,
      );

  async function recoverLost(node: ClusterNode, failure: NodeFailure, state: { isOver: boolean }): Promise<void> {
    while (!state.isOver) {
      await Promise.race([node.server().exited, pause(50)]);
      if (!isAlive(node.server())) await node.recover("killed");
      else if (node.server().isStopped()) await resumeWithoutLease(node, failure);
    }
  }

  /** It goes on when others may have its runs: until then stopped, or cut off from the statement on. */
  async function resumeWithoutLease(node: ClusterNode, failure: NodeFailure): Promise<void> {
    if (failure === "partitioned") {
      node.fail("partitioned");
      await node.recover("paused");
    }
    const held = "select id from runs where lease_owner = $1 and lease_until > now() and status <> 'FINISHED'";
    await eventually(async () => (await harness.database.query(held, [node.id()])).length === 0);
    await node.recover(failure);
  }

  async function expectExactlyOnce({ ids, frames }: Outcome): Promise<void> {
    const [{ client }] = cluster.nodes as [ClusterNode];
    expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
    expect(frames.filter(({ event }) => event === "result")).toHaveLength(1);
    await expectStored(ids, frames);
    const begun = frames.filter(({ event, data }) => event === "tool_call" && data.status === "running");
    const settled = frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");
    expect(begun).toHaveLength(steps.length);
    expect(settled.map(({ data }) => data.callId)).toEqual(begun.map(({ data }) => data.callId));
    const unknown = settled.filter(({ data }) => JSON.stringify(data).includes("outcome of this call is unknown"));
    expect(unknown.length).toBeLessThanOrEqual(await takeovers(ids));
    const lines = await expectHandedOffOnce(client, ids);
    expect(new Set(lines).size, `done twice: ${lines}`).toBe(lines.length);
    expect(lines.length).toBeGreaterThanOrEqual(2 - unknown.length);
    await expectOneChild(ids);
  }

  async function expectStored({ runId }: RunIds, frames: StreamFrame[]): Promise<void> {
    const stored = await harness.database.query<{ seq: number; event: string; event_id: string }>(
      "select seq::int, event, event_id from frames where run_id = $1 order by seq",
      [runId],
    );
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    const withoutDone = stored.filter(({ event }) => event !== "done");
    const seen = frames.filter(({ event }) => event !== "done");
    expect(seen.map(({ id, event }) => [id, event])).toEqual(
      withoutDone.map(({ event_id, event }) => [event_id, event]),
    );
  }

  /** A call has an unknown outcome where its server was lost during it. */
  async function takeovers({ runId }: RunIds): Promise<number> {
    const query = "select lease_epoch::int from runs where id = $1";
    const [row] = await harness.database.query<{ lease_epoch: number }>(query, [runId]);
    return (row?.lease_epoch ?? 0) - 1;
  }

  /** Returns the lines of the journal in the one commit of the branch, as a clone has them. */
  async function expectHandedOffOnce(client: PlatformClient, { agentId }: RunIds): Promise<string[]> {
    const [handoff] = await harness.database.query<{ branch: string; state: string; pr_url: string | null }>(
      "select branch, state, pr_url from handoffs where agent_id = $1",
      [agentId],
    );
    expect(handoff).toMatchObject({ state: "done", pr_url: expect.any(String) });
    const branch = handoff?.branch ?? "";
    const pulls = await harness.database.query("select number from pull_requests where head_branch = $1", [branch]);
    expect(pulls).toHaveLength(1);
    const clone = mkdtempSync(join(harness.directory, "clone-"));
    const address = client.url.replace("://", `://x:${client.key}@`) + new URL(repository).pathname;
    await run("git", ["clone", "-q", "--branch", branch, address, clone]);
    const { stdout } = await run("git", ["-C", clone, "rev-list", "--count", `origin/main..${branch}`]);
    expect(stdout.trim()).toBe("1");
    const journal = join(clone, "journal.txt");
    return existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : [];
  }

  async function expectOneChild({ agentId }: RunIds): Promise<void> {
    const children = await harness.database.query("select id from threads where parent_id = $1", [agentId]);
    expect(children).toHaveLength(1);
  }

  test("without a fault it takes at least forty statements", async () => {
    const outcome = await runWithFault({ at: 0, when: "before", failure: "killed" });
    await expectExactlyOnce(outcome);
    // A slow machine flushes more often, so it may also be a few more than the sweep has faults at.
    expect(outcome.statements).toBeGreaterThanOrEqual(40);
  });

  test.each(sampleOf(all, { every: each }))("$failure $when statement $at", async (fault) => {
    await expectExactlyOnce(await runWithFault(fault));
  });
});
