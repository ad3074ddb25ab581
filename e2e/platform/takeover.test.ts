import { type Reply, replyWith, unusedPort } from "@agentcli/testkit";
import {
  openClient,
  openPlatform,
  type PlatformClient,
  type PlatformHarness,
  type RunIds,
  type StreamFrame,
} from "@agentcli/testkit/platform";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readWithReconnects } from "./stream-reader.ts";

const steps = 4;
const leaseSeconds = 2;

/** Each step adds a line, so that a repeated step shows. */
function script(): Reply[] {
  const step = (number: number): Reply => ({
    calls: [
      {
        name: "exec_command",
        arguments: { cmd: `echo step ${number} >> steps.txt; sleep 0.3; cat steps.txt` },
        callId: `call_step_${number}`,
      },
    ],
  });
  const after = (number: number, reply: Reply): Reply => ({
    ...reply,
    when: { bodyIncludes: `"call_step_${number}"` },
  });
  const later = Array.from({ length: steps - 1 }, (_, index) => after(steps - 1 - index, step(steps - index)));
  return [after(steps, replyWith("All done.", { deltas: 5, deltaDelayMs: 10 })), ...later, step(1)];
}

let harness: PlatformHarness;
let key: string;
let addresses: { first: string; second: string };
beforeAll(async () => {
  harness = await openPlatform({
    replies: { replies: script(), repeat: "always" },
    env: { PLATFORM_LEASE_SECONDS: String(leaseSeconds) },
  });
  key = await harness.key();
  addresses = { first: `127.0.0.1:${await unusedPort()}`, second: `127.0.0.1:${await unusedPort()}` };
});
afterEach(() => harness.stopServers());
afterAll(() => harness.close());

const serve = (name: "first" | "second") => harness.serve({ listen: addresses[name] });
const clientOf = (name: "first" | "second") => openClient(`http://${addresses[name]}`, key);

const createRuns = (client: PlatformClient, count: number): Promise<RunIds[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => client.create({ prompt: { text: `run ${index}` } })));

async function expectExactlyOnce(ids: RunIds, frames: StreamFrame[]): Promise<void> {
  expect(frames.at(-1)?.event).toBe("done");
  const stored = await harness.database.query<{ event_id: string; event: string }>(
    "select event_id, event from frames where run_id = $1 order by seq",
    [ids.runId],
  );
  expect(frames.map(({ id, event }) => [id, event])).toEqual(stored.map(({ event_id, event }) => [event_id, event]));
  const settled = frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");
  expect(new Set(settled.map(({ data }) => data.callId)).size).toBe(steps);
  expect(settled).toHaveLength(steps);
  const last = settled.findLast(({ data }) => data.status === "completed");
  const result = last?.data.result as { success?: { stdout?: string } } | undefined;
  const lines = (result?.success?.stdout ?? "").trim().split("\n");
  expect(new Set(lines).size, `done twice: ${lines}`).toBe(lines.length);
}

interface LeaseRow {
  id: string;
  lease_owner: string | null;
  lease_epoch: number;
  status: string;
}

const owners = () =>
  harness.database.query<LeaseRow>(
    "select id, lease_owner, lease_epoch::int, status from runs order by created_at, id",
  );

test("two servers share runs; one is killed in the middle, and the other finishes all of them", async () => {
  const first = await serve("first");
  const second = await serve("second");
  const runs = await createRuns(clientOf("first"), process.env.SWEEP === "full" ? 20 : 8);
  const readers = runs.map((ids) => readWithReconnects(clientOf("second"), ids));
  await expect.poll(async () => new Set((await owners()).flatMap(({ lease_owner }) => lease_owner ?? [])).size).toBe(2);
  first.child.kill("SIGKILL");
  const frames = await Promise.all(readers);
  for (const [index, ids] of runs.entries()) await expectExactlyOnce(ids, frames[index] ?? []);
  const ids = new Set(runs.map(({ runId }) => runId));
  const after = (await owners()).filter(({ id }) => ids.has(id));
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set(["FINISHED"]));
  expect(after.some(({ lease_epoch }) => lease_epoch > 1)).toBe(true);
  await second.stop();
});

test("a stopped server releases its runs, and the next server continues them without waiting", async () => {
  const first = await serve("first");
  const runs = await createRuns(clientOf("first"), 3);
  const ids = new Set(runs.map(({ runId }) => runId));
  await expect
    .poll(async () => (await owners()).filter(({ id, status }) => ids.has(id) && status === "RUNNING").length)
    .toBe(3);
  await first.stop();
  const left = (await owners()).filter(({ id }) => ids.has(id));
  expect(left.map(({ status, lease_owner }) => [status, lease_owner])).toEqual(runs.map(() => ["RUNNING", null]));
  const next = await serve("first");
  const frames = await Promise.all(runs.map((each) => readWithReconnects(clientOf("first"), each)));
  for (const [index, each] of runs.entries()) await expectExactlyOnce(each, frames[index] ?? []);
  await next.stop();
});

test("a paused owner is fenced when it resumes", async () => {
  const paused = await serve("first");
  const runs = await createRuns(clientOf("first"), 4);
  const ids = new Set(runs.map(({ runId }) => runId));
  const mine = async () => (await owners()).filter(({ id }) => ids.has(id));
  await expect.poll(async () => (await mine()).every(({ lease_owner }) => lease_owner !== null)).toBe(true);
  await expect
    .poll(
      async () =>
        (await harness.database.query<{ run_id: string }>("select run_id from frames")).filter(({ run_id }) =>
          ids.has(run_id),
        ).length,
    )
    .toBeGreaterThan(4);
  paused.child.kill("SIGSTOP");
  const other = await serve("second");
  const readers = runs.map((each) => readWithReconnects(clientOf("second"), each));
  await expect.poll(async () => (await mine()).filter(({ lease_epoch }) => lease_epoch > 1).length).toBeGreaterThan(0);
  paused.child.kill("SIGCONT");
  const frames = await Promise.all(readers);
  for (const [index, each] of runs.entries()) await expectExactlyOnce(each, frames[index] ?? []);
  await Promise.all([paused.stop(), other.stop()]);
});
