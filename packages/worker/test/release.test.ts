// A release that waits for hooks, and the next claim of the same agent meanwhile. Sandboxes and hooks are played.
import { duplexPair } from "node:stream";
import { type OpenedWorkspace, openLink } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { openClaimOrder } from "../src/claim-order.ts";
import { type Agents, openRequests } from "../src/requests.ts";
import { openSessionHooks } from "../src/session-hooks.ts";

const agent = "bc-00000000-0000-4000-8000-000000000001";

async function openWorker(run: () => Promise<void>) {
  const done: string[] = [];
  const sandboxes = {
    claim: async (_: string, runId: string) => void done.push(`claimed for ${runId}`),
    release: async () => void done.push("ended"),
  };
  const runs = new Map<string, string>();
  const sessions = {
    claimed: async (name: string, runId: string) => Boolean(runs.set(name, runId)),
    released: async (name: string) => void runs.delete(name),
    runOf: (name: string) => runs.get(name),
    used() {},
  };
  const agents = { files: {}, sandboxes, sessions, hooks: { run }, inOrder: openClaimOrder() } as unknown as Agents;
  /** A connection of the platform to it. */
  const connect = async () => {
    const [here, there] = duplexPair();
    await openLink({ stream: there, side: "worker", onRequest: openRequests(agents).answer });
    const link = await openLink({ stream: here, side: "platform", onRequest: async () => {} });
    onTestFinished(() => link.close());
    return link;
  };
  return { connect, done };
}

test("a release does not end the run that claims the worker while its hooks run, also over another connection", async () => {
  let finish = () => {};
  const hooks = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { connect, done } = await openWorker(() => {
    begun();
    return hooks;
  });
  const [first, second] = [await connect(), await connect()];
  await first.request("agent.claim", { agent, runId: "run-1" });
  const released = first.request("agent.release", { agent });
  await running;
  const claimed = second.request("agent.claim", { agent, runId: "run-2" });
  // Another agent need not wait; its answer shows that the claim before it has arrived.
  const other = "bc-00000000-0000-4000-8000-000000000002";
  await second.request("agent.claim", { agent: other, runId: "run-3" });
  finish();
  await Promise.all([released, claimed]);
  expect(done).toEqual(["claimed for run-1", "claimed for run-3", "ended", "claimed for run-2"]);
});

test("a release that arrives after the claim of a later run does not end that run, whichever connection it came over", async () => {
  const { connect, done } = await openWorker(async () => {});
  const [first, second] = [await connect(), await connect()];
  await first.request("agent.claim", { agent, runId: "run-1" });
  await second.request("agent.claim", { agent, runId: "run-2" });
  await first.request("agent.release", { agent, runId: "run-1" });
  expect(done).toEqual(["claimed for run-1", "claimed for run-2"]);
  await second.request("agent.release", { agent, runId: "run-2" });
  expect(done.at(-1)).toBe("ended");
});

test.each([
  ["of a platform that names no run", {}],
  ["of a run that this process does not know", { runId: "run-0" }],
])("a release %s ends what the agent has here", async (_, named) => {
  const { connect, done } = await openWorker(async () => {});
  const link = await connect();
  if (Object.keys(named).length === 0) await link.request("agent.claim", { agent, runId: "run-1" });
  await link.request("agent.release", { agent, ...named });
  expect(done.at(-1)).toBe("ended");
});

test("a release that fails does not keep the worker from the next claim", async () => {
  const { connect, done } = await openWorker(() => Promise.reject(new Error("no")));
  const link = await connect();
  await expect(link.request("agent.release", { agent })).rejects.toThrow("no");
  await link.request("agent.claim", { agent, runId: "run-2" });
  expect(done).toEqual(["claimed for run-2"]);
});

test("a sessionEnd hook holds the release for ten minutes at most, whatever its project says", async () => {
  const timeouts: (number | undefined)[] = [];
  const workspace = {
    exec: async ({ start }: { start: { timeoutMs?: number } }) => {
      timeouts.push(start.timeoutMs);
      return { state: "exited", exitCode: 0 };
    },
  } as unknown as OpenedWorkspace;
  const hooks = openSessionHooks({ open: async () => workspace, close: async () => {} }, () => {});
  const hook = { argv: ["true"], cwd: "/workspace", env: {}, input: {} };
  hooks.keep({
    ...{ agent, root: "", writable: [], variables: {} },
    limits: { memoryBytes: null, processes: null, fileBytes: null, temporaryBytes: null },
    hooks: [
      { ...hook, timeoutMs: 60_000 },
      { ...hook, timeoutMs: 2 ** 40 },
    ],
  });
  await hooks.run(agent);
  expect(timeouts).toEqual([60_000, 600_000]);
});
