import { type Reply, say } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, type Ids, openClient, type SentFrame } from "../packages/platform/test/client.ts";
import { readPatiently } from "./patient-reader.ts";
import { type PlatformDesk, platformDesk } from "./platform-desk.ts";

const steps = 4;
const leaseSeconds = 2;

/** Each step leaves a line, so that one done twice shows. */
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
  return [after(steps, say("All done.", { deltas: 5, deltaDelayMs: 10 })), ...later, step(1)];
}

let desk: PlatformDesk;
beforeAll(async () => {
  desk = await platformDesk({
    replies: { replies: script(), repeat: "always" },
    config: `lease_seconds = ${leaseSeconds}\n`,
  });
});
afterAll(() => desk.close());

const createRuns = (client: Client, count: number): Promise<Ids[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => client.create({ prompt: { text: `run ${index}` } })));

async function expectSound(ids: Ids, frames: SentFrame[]): Promise<void> {
  expect(frames.at(-1)?.event).toBe("done");
  const stored = await desk.database.db
    .selectFrom("frames")
    .selectAll()
    .where("run_id", "=", ids.runId)
    .orderBy("seq")
    .execute();
  expect(frames.map(({ id, event }) => [id, event])).toEqual(stored.map(({ event_id, event }) => [event_id, event]));
  const settled = frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");
  expect(new Set(settled.map(({ data }) => data.callId)).size).toBe(steps);
  expect(settled).toHaveLength(steps);
  const last = settled.findLast(({ data }) => data.status === "completed");
  const result = last?.data.result as { success?: { stdout?: string } } | undefined;
  const lines = (result?.success?.stdout ?? "").trim().split("\n");
  expect(new Set(lines).size, `done twice: ${lines}`).toBe(lines.length);
}

const owners = () =>
  desk.database.db.selectFrom("runs").select(["id", "lease_owner", "lease_epoch", "status"]).execute();

test("two servers share runs; one is killed in the middle, and the other finishes all of them", async () => {
  const first = await desk.start();
  const second = await desk.start({ place: "second" });
  const runs = await createRuns(desk.client, process.env.SWEEP === "full" ? 20 : 8);
  const readers = runs.map((ids) => readPatiently(openClient(desk.urls.second, desk.key), ids));
  await expect.poll(async () => new Set((await owners()).flatMap(({ lease_owner }) => lease_owner ?? [])).size).toBe(2);
  first.signal("SIGKILL");
  const frames = await Promise.all(readers);
  for (const [index, ids] of runs.entries()) await expectSound(ids, frames[index] ?? []);
  const after = await owners();
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set(["FINISHED"]));
  expect(after.some(({ lease_epoch }) => lease_epoch > 1)).toBe(true);
  await second.stop();
});

test("a server that is stopped gives its runs back unharmed, and the next one need not wait", async () => {
  const first = await desk.start();
  const runs = await createRuns(desk.client, 3);
  const ids = new Set(runs.map(({ runId }) => runId));
  await expect
    .poll(async () => (await owners()).filter(({ id, lease_owner }) => ids.has(id) && lease_owner !== null).length)
    .toBe(3);
  await first.stop();
  const left = (await owners()).filter(({ id }) => ids.has(id));
  expect(left.map(({ status, lease_owner }) => [status, lease_owner])).toEqual(runs.map(() => ["RUNNING", null]));
  const next = await desk.start();
  const frames = await Promise.all(runs.map((each) => readPatiently(desk.client, each)));
  for (const [index, each] of runs.entries()) await expectSound(each, frames[index] ?? []);
  await next.stop();
});

test("an owner that was paused is fenced off when it wakes up", async () => {
  const paused = await desk.start();
  const runs = await createRuns(desk.client, 4);
  const ids = new Set(runs.map(({ runId }) => runId));
  const mine = async () => (await owners()).filter(({ id }) => ids.has(id));
  await expect.poll(async () => (await mine()).every(({ lease_owner }) => lease_owner !== null)).toBe(true);
  await expect
    .poll(
      async () =>
        (await desk.database.db.selectFrom("frames").select("run_id").execute()).filter(({ run_id }) => ids.has(run_id))
          .length,
    )
    .toBeGreaterThan(4);
  paused.signal("SIGSTOP");
  const other = await desk.start({ place: "second" });
  const readers = runs.map((each) => readPatiently(openClient(desk.urls.second, desk.key), each));
  await expect.poll(async () => (await mine()).filter(({ lease_epoch }) => lease_epoch > 1).length).toBeGreaterThan(0);
  paused.signal("SIGCONT");
  const frames = await Promise.all(readers);
  for (const [index, each] of runs.entries()) await expectSound(each, frames[index] ?? []);
  await Promise.all([paused.stop(), other.stop()]);
});
