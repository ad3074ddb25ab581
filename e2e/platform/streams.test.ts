// Streams: exact after every reconnect, the same for all readers, kept for a configured time.

import { request } from "node:http";
import { eventually, stall } from "@agentcli/testkit";
import {
  type PlatformClient,
  parseFrames,
  type RunIds,
  sendRequest,
  servePlatformForFile,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { beforeAll, expect, test } from "vitest";

const allIsWell = { messages: ["All is well."], deltas: 4, deltaDelayMs: 60 };
const shared = servePlatformForFile({
  replies: {
    replies: [
      { when: { bodyIncludes: "One moment, please" }, ...allIsWell },
      {
        when: { bodyIncludes: "go and look around" },
        calls: [{ name: "exec_command", arguments: { cmd: "printf 'a\\n\\nb\\r\\n'" } }],
        messages: ["One moment, please: \u{1f600} ünï\u2028cödé \r\n\n"],
      },
      { when: { bodyIncludes: "go slowly" }, ...allIsWell },
      { when: { bodyIncludes: "wait for me" }, ...stall("after-headers") },
      { when: { bodyIncludes: "tell a story" }, text: { bytes: 20_000 }, deltas: 40, deltaDelayMs: 20 },
      { messages: ["done"] },
    ],
    repeat: "always",
  },
});

let client: PlatformClient;
beforeAll(async () => {
  client = await shared().client();
});

test("a reader that reconnects with any event id gets exactly the rest", async () => {
  const made = await client.create("go and look around");
  const whole = await client.streamText(made);
  const [status, ...frames] = parseFrames(whole);
  expect(status).toMatchObject({ id: undefined, event: "status" });
  expect(frames.map(({ event }) => event).slice(-2)).toEqual(["result", "done"]);
  expect([status, ...frames].map((frame) => frame?.text).join("")).toBe(whole);
  const ended = `event: status\ndata: ${JSON.stringify({ runId: made.runId, status: "FINISHED" })}\n\n`;
  const ids = [...new Set(frames.map(({ id }) => id ?? expect.fail("a frame without an id")))];
  for (const id of ids.slice(0, -1)) {
    const last = frames.findLastIndex((frame) => frame.id === id);
    const rest = frames.slice(last + 1).map(({ text }) => text);
    expect(await client.streamText(made, id)).toBe(ended + rest.join(""));
  }
  expect(await client.streamText(made, ids.at(-1))).toBe(`${ended}event: done\ndata: {}\n\n`);
});

test("a reader that is disconnected repeatedly during the run misses nothing and gets nothing twice", async () => {
  const made = await client.create("go slowly");
  const seen: string[] = [];
  let last: string | undefined;
  while (!seen.at(-1)?.includes("event: done")) {
    const frames = parseFrames(await readPiece(client, made, last)).slice(1);
    seen.push(...frames.map(({ text }) => text));
    last = frames.at(-1)?.id ?? last;
  }
  const whole = parseFrames(await client.streamText(made)).slice(1);
  expect(seen.filter((text) => text.startsWith("id: "))).toEqual(whole.map(({ text }) => text));
});

/** Reads until a frame with an id has come, then disconnects between two frames with different ids. */
function readPiece(
  client: PlatformClient,
  { agentId, runId }: RunIds,
  lastEventId: string | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${client.key}`,
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const asked = request(`${client.url}/v1/agents/${agentId}/runs/${runId}/stream`, { headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
        if (!/\n\n$/.test(text) || !text.includes("id: ")) return;
        resolve(text);
        asked.destroy();
      });
      response.on("end", () => resolve(text));
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("event ids of other runs, and invalid ones, are refused", async () => {
  const [made, other] = [await client.create("one"), await client.create("other")];
  const theirs = parseFrames(await client.streamText(other)).at(-1)?.id ?? "";
  await client.waitForRun(made);
  const path = `/v1/agents/${made.agentId}/runs/${made.runId}/stream`;
  for (const id of [theirs, "0", "-1", "1-1", "nonsense", "9".repeat(100), "1; drop table frames", "ü"]) {
    const answer = await client.get(path, { "last-event-id": id });
    expect(answer, id).toMatchObject({ status: 400, body: { error: { code: "invalid_last_event_id" } } });
  }
});

test("a stream reports its retention, and expires after that", async () => {
  const env = { PLATFORM_STREAM_RETENTION_SECONDS: "2" };
  const client = await (await servePlatformForTest({ env, replies: [stall("before-headers")] })).client();
  const made = await client.create("brief");
  const path = `/v1/agents/${made.agentId}/runs/${made.runId}/stream`;
  const { headers } = await client.get(path);
  expect(headers).toMatchObject({
    "content-type": expect.stringMatching(/^text\/event-stream/),
    "x-platform-stream-retention-seconds": "2",
    "x-cursor-stream-retention-seconds": "2",
  });
  // The run ends now: a run that ends by itself could expire before its headers are read.
  await client.post(`/v1/agents/${made.agentId}/runs/${made.runId}/cancel`);
  await eventually(async () => (await client.get(path)).status === 410);
  expect(await client.get(path)).toMatchObject({ body: { error: { code: "stream_expired" } } });
  expect(await client.get(`/v1/agents/${made.agentId}/runs/${made.runId}`)).toMatchObject({ status: 200 });
});

test("an idle stream sends heartbeats", async () => {
  const made = await client.create("wait for me");
  const beat = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `${client.url}/v1/agents/${made.agentId}/runs/${made.runId}/stream`,
      { headers: { authorization: `Bearer ${client.key}` }, signal: AbortSignal.timeout(120_000) },
      (response) =>
        response.setEncoding("utf8").on("data", (piece: string) => {
          if (!piece.includes("heartbeat")) return;
          resolve(piece);
          asked.destroy();
        }),
    );
    asked.on("error", reject);
    asked.end();
  });
  expect(beat).toBe("event: heartbeat\ndata: {}\n\n");
});

test("HEAD of a stream is answered during the run", async () => {
  const { agentId, runId } = await client.create("wait for me");
  const path = `/v1/agents/${agentId}/runs/${runId}/stream`;
  const head = await sendRequest(client.url, {
    method: "HEAD",
    path,
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(head).toMatchObject({ status: 200, text: "", headers: { "x-platform-stream-retention-seconds": "86400" } });
  expect((await client.get(`/v1/agents/${agentId}/runs/${runId}`)).body).toMatchObject({
    status: expect.stringMatching(/CREATING|RUNNING/),
  });
});

test("two hundred readers, early and late, get the same bytes", async () => {
  const made = await client.create("tell a story");
  const readers: Promise<string>[] = [];
  for (let round = 0; round < 20; round += 1) {
    readers.push(...Array.from({ length: 10 }, () => client.streamText(made)));
    await Promise.race([readers[0], new Promise((resolve) => setTimeout(resolve, 30))]);
  }
  const texts = (await Promise.all(readers)).map((text) =>
    parseFrames(text)
      .slice(1)
      .map((frame) => frame.text)
      .join(""),
  );
  expect(new Set(texts.map((text) => text.replaceAll("event: heartbeat\ndata: {}\n\n", ""))).size).toBe(1);
});
