// The connection of a worker is cut, silently or not, or its process is killed: commands run once, and their output is whole.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Reply } from "@agentcli/testkit";
import {
  type ServedPlatform,
  type StreamFrame,
  servePlatformForTest,
  startTestWorker,
  type TestWorker,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { openRelay, type Relay } from "../../packages/worker/test/relay.ts";

const command = (cmd: string): Reply => ({
  calls: [{ name: "exec_command", arguments: { cmd, yield_time_ms: 60_000 } }],
});
/** A complete run of all sweeps cuts the network for as long as the requirement says. */
const cutMs = process.env.SWEEP === "full" ? 30_000 : 3_000;

/** Prints numbers until the file `stop` is there, and leaves a line for each time that it is started. */
const counting =
  'echo started >> starts.txt; i=0; while [ ! -e stop ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done; echo "last $i"';

async function openScenario(): Promise<{ platform: ServedPlatform; relay: Relay; worker: TestWorker }> {
  const platform = await servePlatformForTest({
    replies: { replies: [command(counting), { messages: ["All done."] }], repeat: "last" },
  });
  const client = await platform.client();
  const relay = await openRelay(Number(new URL(platform.server.url).port));
  onTestFinished(() => relay.close());
  const worker = startTestWorker({ url: relay.url, key: client.key, directory: platform.harness.directory });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  return { platform, relay, worker };
}

const filesOf = ({ data }: TestWorker, agentId: string) => join(data, "agents", agentId, "files");
const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Every line once and in order, however it was divided. */
function expectWhole(frames: StreamFrame[]): void {
  const [call] = frames.filter(({ event, data }) => event === "tool_call" && data.status === "completed");
  const text = JSON.stringify(call?.data);
  const last = Number(/last (\d+)/.exec(text)?.[1]);
  expect(last).toBeGreaterThan(0);
  const lines = [...text.matchAll(/line (\d+)/g)].map((match) => Number(match[1]));
  const numbers = Array.from({ length: last }, (_, index) => index + 1);
  // The middle of a long output is left out for the model, never its ends.
  expect(lines.every((line, index) => index === 0 || line > (lines[index - 1] ?? 0))).toBe(true);
  expect([lines[0], lines.at(-1)]).toEqual([1, last]);
  if (last < 300) expect(lines).toEqual(numbers);
  const ids = frames.flatMap(({ id, event }) => (id === undefined || event === "done" ? [] : [id]));
  expect(new Set(ids).size).toBe(ids.length);
}

test.each([
  ["cut", "held back without either side learning of it"],
  ["drop", "ended, and refused for a while"],
] as ["cut" | "drop", string][])("a connection that is %s (%s) loses nothing", { timeout: 120_000 }, async (how, _) => {
  const { platform, relay, worker } = await openScenario();
  const client = await platform.client();
  const ids = await client.create("work", { env: { type: "machine" } });
  const streaming = client.stream(ids);
  const files = filesOf(worker, ids.agentId);
  await expect.poll(() => read(join(files, "starts.txt"))).toBe("started\n");
  relay[how]();
  await pause(cutMs);
  relay.restore();

  writeFileSync(join(files, "stop"), "");
  expectWhole(await streaming);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
  expect(read(join(files, "starts.txt"))).toBe("started\n");
});

test("a worker that is killed after a command has finished still has its result", { timeout: 120_000 }, async () => {
  const { platform, relay, worker } = await openScenario();
  const client = await platform.client();
  const ids = await client.create("work", { env: { type: "machine" } });
  const streaming = client.stream(ids);
  const files = filesOf(worker, ids.agentId);
  await expect.poll(() => read(join(files, "starts.txt"))).toBe("started\n");
  relay.drop();
  writeFileSync(join(files, "stop"), "");
  const results = join(worker.data, "agents", ids.agentId, "results");
  await expect
    .poll(() =>
      readdirSync(results)
        .map((name) => read(join(results, name)))
        .join(""),
    )
    .toContain('"exited"');
  await worker.stop("SIGKILL");
  relay.restore();
  startTestWorker({ url: relay.url, key: client.key, directory: platform.harness.directory });
  expectWhole(await streaming);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
  expect(read(join(files, "starts.txt"))).toBe("started\n");
});

test("a worker that is killed during a command does not run it again, and the model learns that", {
  timeout: 120_000,
}, async () => {
  const { platform, relay, worker } = await openScenario();
  const client = await platform.client();
  const ids = await client.create("work", { env: { type: "machine" } });
  const streaming = client.stream(ids);
  const files = filesOf(worker, ids.agentId);
  await expect.poll(() => read(join(files, "starts.txt"))).toBe("started\n");
  await worker.stop("SIGKILL");
  startTestWorker({ url: relay.url, key: client.key, directory: platform.harness.directory });
  const frames = await streaming;
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "All done." });
  expect(read(join(files, "starts.txt"))).toBe("started\n");
  expect(JSON.stringify(frames)).toMatch(/outcome|interrupted|unknown/i);
});
