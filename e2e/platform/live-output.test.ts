// Output of commands in the stream while they run: once, redacted, and whole after a kill of the server.

import { type Reply, replyWith, stall } from "@agentcli/testkit";
import {
  openPlatformForTest,
  type PlatformClient,
  type RunIds,
  type StreamFrame,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { outputIn, readWithReconnects } from "./stream-reader.ts";

/** A model that runs one command, and says this afterwards. */
const running = (cmd: string, afterwards: Reply) => ({
  replies: [
    { ...afterwards, when: { bodyIncludes: '"call_live"' } },
    { calls: [{ name: "exec_command", arguments: { cmd, yield_time_ms: 30_000 }, callId: "call_live" }] },
  ],
  repeat: "always" as const,
});

test("output is in the stream while the command runs, redacted, and a reader that reconnects gets exactly the rest", async () => {
  const cmd = `echo begun; printf "a \${PASSWORD:0:8}"; sleep 1; printf "\${PASSWORD:8} b\\nwaiting\\n"; sleep 3600`;
  const client = await (await servePlatformForTest({ replies: running(cmd, stall("before-headers")) })).client();
  const made = await client.create({ prompt: { text: "go" }, envVars: { PASSWORD: "hunter2-hunter3" } });
  const live = await readUntil(client, made, "waiting\n");
  expect(live.filter(isSettled)).toEqual([]);
  expect((await client.get(pathOf(made))).body).toMatchObject({ status: "RUNNING" });
  await client.post(`${pathOf(made)}/cancel`);
  const frames = (await client.stream(made)).filter(({ id }) => id !== undefined);
  expect(outputIn(frames)).toMatch(/^begun\na \[\w*redacted\b[^\]]*\] b\nwaiting\n$/i);
  expect(JSON.stringify([live, frames])).not.toMatch(/hunter[23]/);
  for (const [index, { id }] of frames.entries()) {
    if (id === frames[index + 1]?.id || id === frames.at(-1)?.id) continue;
    const rest = (await client.stream(made, id)).filter((frame) => frame.id !== undefined);
    expect(outputIn([...frames.slice(0, index + 1), ...rest])).toBe(outputIn(frames));
  }
});

test("a command that prints without end does not fill the database, and its result is whole", async () => {
  const cmd = "yes | head -c 3000000; echo last line";
  const platform = await servePlatformForTest({ replies: running(cmd, replyWith("Done.")) });
  const client = await platform.client();
  const made = await client.create("go");
  const frames = await client.stream(made);
  expect(outputIn(frames)).toMatch(/^(?:y\n){500000,}\n\[Further output is not shown[^\n]*\]\n$/);
  const [settled] = frames.filter(isSettled);
  expect(settled?.data).toMatchObject({
    result: { success: { exitCode: 0, stdout: expect.stringMatching(/^(?:y\n){1000,}.*last line\n$/s) } },
  });
  const [stored] = await platform.harness.database.query<{ bytes: number }>(
    "select sum(octet_length(data))::int as bytes from frames where run_id = $1",
    [made.runId],
  );
  expect(stored?.bytes).toBeLessThan(3_000_000);
});

test("a server that is killed in the middle of output and its successor show each line once", async () => {
  const cmd = "for i in $(seq 1 1000000); do echo line $i; sleep 0.02; done";
  const platform = await openPlatformForTest({
    replies: running(cmd, replyWith("Done.")),
    env: { PLATFORM_LEASE_SECONDS: "2" },
  });
  const first = await platform.serve();
  const client = await platform.client(first);
  const made = await client.create("go");
  const seen = await readUntil(client, made, "line 5\n");
  first.child.kill("SIGKILL");
  const next = await platform.client(await platform.serve());
  const frames = await readWithReconnects(next, made);
  expect(frames.find(({ event }) => event === "result")?.data).toMatchObject({ status: "FINISHED", text: "Done." });
  const printed = outputIn(frames);
  const lines = printed.split("\n").slice(0, -1);
  expect(lines.length).toBeGreaterThanOrEqual(5);
  expect(lines).toEqual(lines.map((_, index) => `line ${index + 1}`));
  expect(printed.startsWith(outputIn(seen))).toBe(true);
  expect(frames.filter(isSettled)).toHaveLength(1);
});

const pathOf = ({ agentId, runId }: RunIds): string => `/v1/agents/${agentId}/runs/${runId}`;

const isSettled = ({ event, data }: StreamFrame): boolean => event === "tool_call" && data.status !== "running";

/** The frames up to the one with which commands have printed this. */
async function readUntil(client: PlatformClient, ids: RunIds, output: string): Promise<StreamFrame[]> {
  const frames: StreamFrame[] = [];
  const leave = new AbortController();
  await client.follow(
    ids,
    (frame) => {
      if (!leave.signal.aborted) frames.push(frame);
      if (outputIn(frames).includes(output)) leave.abort();
    },
    leave.signal,
  );
  return frames;
}
