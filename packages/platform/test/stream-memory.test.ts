// Memory of a server whose clients do not read their streams: the test writes the frames, as another server would.
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import {
  type PlatformClient,
  type RunIds,
  type ServedPlatform,
  servePlatformForTest,
} from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openQueries } from "../src/foundation/db/connect.ts";
import { openVault } from "../src/foundation/vault/index.ts";
import { type Frame, insertFrames, notifyReaders, numberFrames } from "../src/runs/streams/index.ts";

const frameBytes = 10_000;
const frameCount = 5_000;

test("clients that do not read cost the server at most one page each while 50 MB are streamed", async () => {
  // No server drives the run: the test writes the frames, as another server would.
  const platform = await servePlatformForTest({ args: ["--role", "api"] });
  const client = await platform.client();
  const made = await client.create("talk much");
  const store = await openDriver(platform, made);
  const lazy = await Promise.all(Array.from({ length: 20 }, () => lazyReader(client, made)));
  const before = memoryOf(platform);
  const eager = client.streamText(made);
  for (let done = 0; done < frameCount; done += 100) await store(100, done + 100 === frameCount);
  expect((await eager).length).toBeGreaterThan(frameCount * frameBytes);
  const peakMb = (memoryOf(platform).peakKb - before.nowKb) / 1024;
  console.log(`20 readers that do not read, 1 that does, 50 MB of frames: peak +${peakMb.toFixed(0)} MB`);
  expect(peakMb).toBeLessThan(250);
  for (const socket of lazy) expect(await rest(socket)).toBe(frameCount);
});

/** Stores frames of one run and notifies its readers. */
async function openDriver({ harness }: ServedPlatform, { agentId, runId }: RunIds) {
  const db = openQueries({ url: harness.database.url }, 2, () => {});
  onTestFinished(() => db.destroy());
  const vault = await openVault(db, { kekFile: join(harness.data, "kek") });
  const row = await db.selectFrom("agents").select("data_key").where("id", "=", agentId).executeTakeFirstOrThrow();
  const key = await vault.unwrap(row.data_key);
  let after = 0;
  return async (count: number, isEnd: boolean): Promise<void> => {
    const message = { event: "assistant", data: { text: "x".repeat(frameBytes) } } as const;
    const groups = Array.from({ length: count }, () => [message]);
    const frames: Frame[] = numberFrames(isEnd ? [...groups, [{ event: "done", data: {} }]] : groups, {
      after,
      bornAt: new Date(0),
    });
    after += frames.length;
    await sql`
      with fence as (select id from runs where id = ${runId}), shown as (${insertFrames(key, runId, frames)})
      select (${notifyReaders(runId, frames)}) as told
    `.execute(db);
  };
}

/** Requests the stream and does not read the response. */
async function lazyReader({ url, key }: PlatformClient, { agentId, runId }: RunIds): Promise<Socket> {
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

/** Number of frames once it finally reads. */
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

function memoryOf({ server }: ServedPlatform): { nowKb: number; peakKb: number } {
  const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
  const kb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
  return { nowKb: kb("VmRSS"), peakKb: kb("VmHWM") };
}
