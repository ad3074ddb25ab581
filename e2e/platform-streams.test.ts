// Streams as readers get them: exact after every reconnect, the same for all, and no burden on the server when nobody reads.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { eventually, stall } from "@agentcli/testkit";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { type Frame, insertFrames, numberFrames, tellReaders } from "../packages/platform/src/streams/index.ts";
import { openVault } from "../packages/platform/src/vault/index.ts";
import { type Client, framesOf, type Made, send } from "./platform-client.ts";
import { type ScriptedPlatform, scriptedPlatform } from "./platform-scripted.ts";

const talkative = [
  { reasoning: { summary: ["Let me see."] }, messages: ["I look around: \u{1f600} ünï\u2028cödé \r\n\n"], deltas: 5 },
  { calls: [{ name: "exec_command", arguments: { cmd: "printf 'a\\n\\nb\\r\\n'" } }], messages: ["One moment."] },
  { messages: ["All is well."], deltas: 4, deltaDelayMs: 60 },
];

test("a reader that comes back with any id gets the rest, to the byte", async () => {
  const platform = await scriptedPlatform({ replies: talkative.slice(1) });
  const client = await platform.client();
  const made = await client.create("go");
  const whole = await client.stream(made);
  const [status, ...frames] = framesOf(whole);
  expect(status).toMatchObject({ id: undefined, event: "status" });
  expect(frames.map(({ event }) => event).slice(-2)).toEqual(["result", "done"]);
  expect([status, ...frames].map((frame) => frame?.text).join("")).toBe(whole);
  const ended = `event: status\ndata: ${JSON.stringify({ runId: made.runId, status: "FINISHED" })}\n\n`;
  const ids = [...new Set(frames.map(({ id }) => id ?? expect.fail("a frame without an id")))];
  for (const id of ids.slice(0, -1)) {
    const last = frames.findLastIndex((frame) => frame.id === id);
    const rest = frames.slice(last + 1).map(({ text }) => text);
    expect(await client.stream(made, id)).toBe(ended + rest.join(""));
  }
  expect(await client.stream(made, ids.at(-1))).toBe(`${ended}event: done\ndata: {}\n\n`);
});

test("a reader that is cut off again and again while the run goes on misses nothing and sees nothing twice", async () => {
  const platform = await scriptedPlatform({ replies: talkative.slice(2) });
  const client = await platform.client();
  const made = await client.create("go");
  const seen: string[] = [];
  let last: string | undefined;
  while (!seen.at(-1)?.includes("event: done")) {
    const frames = framesOf(await readPiece(client, made, last)).slice(1);
    seen.push(...frames.map(({ text }) => text));
    last = frames.at(-1)?.id ?? last;
  }
  const whole = framesOf(await client.stream(made)).slice(1);
  expect(seen.filter((text) => text.startsWith("id: "))).toEqual(whole.map(({ text }) => text));
});

/** Reads until something with an id has come, then breaks off between two frames that share none. */
function readPiece(client: Client, { agentId, runId }: Made, lastEventId: string | undefined): Promise<string> {
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

test("ids of other runs, and what never was one, are refused", async () => {
  const client = await (await scriptedPlatform()).client();
  const [made, other] = [await client.create("one"), await client.create("other")];
  const theirs = framesOf(await client.stream(other)).at(-1)?.id ?? "";
  await client.ended(made);
  const path = `/v1/agents/${made.agentId}/runs/${made.runId}/stream`;
  for (const id of [theirs, "0", "-1", "1-1", "nonsense", "9".repeat(100), "1; drop table frames", "ü"]) {
    const answer = await client.get(path, { "last-event-id": id });
    expect(answer, id).toMatchObject({ status: 400, body: { error: { code: "invalid_last_event_id" } } });
  }
});

test("a stream says how long it is kept, and is gone after that", async () => {
  const client = await (await scriptedPlatform({ env: { PLATFORM_STREAM_RETENTION_SECONDS: "2" } })).client();
  const made = await client.create("brief");
  await client.ended(made);
  const path = `/v1/agents/${made.agentId}/runs/${made.runId}/stream`;
  const { headers } = await client.get(path);
  expect(headers).toMatchObject({
    "content-type": expect.stringMatching(/^text\/event-stream/),
    "x-platform-stream-retention-seconds": "2",
    "x-cursor-stream-retention-seconds": "2",
  });
  await eventually(async () => (await client.get(path)).status === 410);
  expect(await client.get(path)).toMatchObject({ body: { error: { code: "stream_expired" } } });
  expect(await client.get(`/v1/agents/${made.agentId}/runs/${made.runId}`)).toMatchObject({ status: 200 });
});

test("while nothing happens the connection is kept alive", async () => {
  const platform = await scriptedPlatform({ replies: [stall("after-headers")] });
  const client = await platform.client();
  const made = await client.create("wait");
  const beat = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `${client.url}/v1/agents/${made.agentId}/runs/${made.runId}/stream`,
      { headers: { authorization: `Bearer ${client.key}` }, signal: AbortSignal.timeout(40_000) },
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

test("HEAD of a stream is answered at once, however long the run goes on", async () => {
  const client = await (await scriptedPlatform({ replies: [stall("after-headers")] })).client();
  const { agentId, runId } = await client.create("wait");
  const path = `/v1/agents/${agentId}/runs/${runId}/stream`;
  const head = await send(client.url, { method: "HEAD", path, headers: { authorization: `Bearer ${client.key}` } });
  expect(head).toMatchObject({ status: 200, text: "", headers: { "x-platform-stream-retention-seconds": "86400" } });
  expect((await client.get(`/v1/agents/${agentId}/runs/${runId}`)).body).toMatchObject({
    status: expect.stringMatching(/CREATING|RUNNING/),
  });
});

test("two hundred readers, early and late, get the same bytes", async () => {
  const platform = await scriptedPlatform({ replies: [{ text: { bytes: 20_000 }, deltas: 40, deltaDelayMs: 20 }] });
  const client = await platform.client();
  const made = await client.create("tell a story");
  const readers: Promise<string>[] = [];
  for (let round = 0; round < 20; round += 1) {
    readers.push(...Array.from({ length: 10 }, () => client.stream(made)));
    await Promise.race([readers[0], new Promise((resolve) => setTimeout(resolve, 30))]);
  }
  const texts = (await Promise.all(readers)).map((text) =>
    framesOf(text)
      .slice(1)
      .map((frame) => frame.text)
      .join(""),
  );
  expect(new Set(texts.map((text) => text.replaceAll("event: heartbeat\ndata: {}\n\n", ""))).size).toBe(1);
});

const frameBytes = 10_000;
const frameCount = 5_000;

test("readers that do not read cost the server no more than a page each while 50 MB pass", async () => {
  // Nobody drives the run: the frames are written here, as another server would.
  const platform = await scriptedPlatform({ args: ["--role", "api"] });
  const client = await platform.client();
  const made = await client.create("talk much");
  const store = await openDriver(platform, made);
  const lazy = await Promise.all(Array.from({ length: 20 }, () => lazyReader(client, made)));
  const before = memoryOf(platform);
  const eager = client.stream(made);
  for (let done = 0; done < frameCount; done += 100) await store(100, done + 100 === frameCount);
  expect((await eager).length).toBeGreaterThan(frameCount * frameBytes);
  const peakMb = (memoryOf(platform).peakKb - before.nowKb) / 1024;
  console.log(`20 readers that do not read, 1 that does, 50 MB of frames: peak +${peakMb.toFixed(0)} MB`);
  expect(peakMb).toBeLessThan(250);
  for (const socket of lazy) expect(await rest(socket)).toBe(frameCount);
});

/** Stores frames of one run and tells the readers of it. */
async function openDriver({ desk }: ScriptedPlatform, { agentId, runId }: Made) {
  const { db } = desk.database ?? expect.fail("no database");
  const vault = await openVault(db, join(desk.data, "kek"));
  const row = await db.selectFrom("agents").select("data_key").where("id", "=", agentId).executeTakeFirstOrThrow();
  const key = await vault.unwrap(row.data_key);
  let after = 0;
  return async (count: number, isEnd: boolean): Promise<void> => {
    const said = { event: "assistant", data: { text: "x".repeat(frameBytes) } } as const;
    const groups = Array.from({ length: count }, () => [said]);
    const frames: Frame[] = numberFrames(isEnd ? [...groups, [{ event: "done", data: {} }]] : groups, {
      after,
      bornAt: new Date(0),
    });
    after += frames.length;
    await sql`
      with fence as (select id from runs where id = ${runId}), shown as (${insertFrames(key, runId, frames)})
      select (${tellReaders(runId, frames)}) as told
    `.execute(db);
  };
}

/** Asks for the stream, and does not read what comes. */
async function lazyReader({ url, key }: Client, { agentId, runId }: Made): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(
    `GET /v1/agents/${agentId}/runs/${runId}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** How many frames there are when it reads after all. */
function rest(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let count = 0;
    let tail = "";
    socket.on("data", (piece) => {
      const text = tail + piece.toString("latin1");
      count += text.split("event: assistant\n").length - 1;
      tail = text.slice(-"event: assistant".length);
    });
    socket.on("end", () => resolve(count));
    socket.resume();
  });
}

function memoryOf({ server }: ScriptedPlatform): { nowKb: number; peakKb: number } {
  const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
  const kb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
  return { nowKb: kb("VmRSS"), peakKb: kb("VmHWM") };
}
