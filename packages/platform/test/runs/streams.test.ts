import type { FrameGroup } from "@agentcli/surfaces/run-stream";
import { eventually } from "@agentcli/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  encodeFrame,
  type Frame,
  type Hub,
  insertFrames,
  notifyReaders,
  numberFrames,
  openFrameWriter,
  openHub,
  openOpenStreams,
  openStreamRetention,
  readFrames,
  readPrinted,
} from "../../src/runs/streams/index.ts";
import { findEvent } from "../../src/runs/streams/store.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";

let fixture: AgentFixture;
let hub: Hub;
beforeAll(async () => {
  fixture = await openFixture();
  const { db, vault, notifications, nodeId } = fixture.platform;
  const openStreams = await openOpenStreams(db, nodeId);
  hub = await openHub({ pages: readFrames(db, vault), notifications, openStreams });
});
afterAll(async () => {
  hub.close();
  await fixture.close();
});

const assistant = (text: string): FrameGroup => [{ event: "assistant", data: { text } }];
const done: FrameGroup = [{ event: "done", data: {} }];

/** A run whose frames the test writes itself, as its driver would. */
async function newRun() {
  const { agentId, runId } = await fixture.newAgent();
  const { db, vault } = fixture.platform;
  const { data_key } = await db
    .selectFrom("agents")
    .select("data_key")
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(data_key);
  let after = 0;
  return {
    ...{ runId, key },
    async store(...groups: FrameGroup[]): Promise<Frame[]> {
      const frames = numberFrames(groups, { after, bornAt: new Date(0) });
      after += frames.length;
      await sql`with fence as (select id from runs where id = ${runId}) ${insertFrames(key, runId, frames)}`.execute(
        db,
      );
      return frames;
    },
  };
}

async function readToEnd(runId: string, after = 0, selection: "all" | "brief" = "all"): Promise<string> {
  const pieces: string[] = [];
  const batches = hub.read({ runId, after, selection }, new AbortController().signal);
  for await (const { bytes } of batches) pieces.push(bytes.toString());
  return pieces.join("");
}

const texts = (frames: Frame[]): string => frames.map(encodeFrame).join("");

test("a reader gets earlier stored frames and later published frames, each once", async () => {
  const run = await newRun();
  const before = await run.store(assistant("a"), assistant("b"));
  const reading = readToEnd(run.runId);
  const after = [...(await run.store(assistant("c"))), ...(await run.store(done))];
  hub.publish(run.runId, after);
  expect(await reading).toBe(texts([...before, ...after]));
});

test("frames of another server are read after the database notification", async () => {
  const run = await newRun();
  const reading = readToEnd(run.runId);
  const frames = await run.store(assistant("elsewhere"), done);
  await sql`select pg_notify('frames', ${run.runId})`.execute(fixture.platform.db);
  expect(await reading).toBe(texts(frames));
});

test("a server that writes frames notifies others only while one of them has a reader", async () => {
  const { db, notifications, nodeId } = fixture.platform;
  const run = await newRun();
  await db.updateTable("runs").set({ lease_owner: nodeId }).where("id", "=", run.runId).execute();
  const notified: string[] = [];
  const stopListening = await notifications.subscribe("frames", {
    onMessage: (id) => void notified.push(id),
    onGap() {},
  });
  let rounds = 0;
  /** Notifications arrive in the order in which they were sent. */
  const isNotified = async () => {
    notified.length = 0;
    rounds += 1;
    const end = `end ${rounds}`;
    await sql`with fence as (select id from runs where id = ${run.runId}) ${notifyReaders(run.runId, [{}])}`.execute(
      db,
    );
    await sql`select pg_notify('frames', ${end})`.execute(db);
    await eventually(async () => expect(notified).toContain(end));
    return notified.includes(run.runId);
  };
  const [here, elsewhere] = [await openOpenStreams(db, nodeId), await openOpenStreams(db, "another-server")];

  expect(await isNotified()).toBe(false);
  const own = here.open(run.runId);
  await own.opened();
  expect(await isNotified()).toBe(false);
  const foreign = elsewhere.open(run.runId);
  await foreign.opened();
  expect(await isNotified()).toBe(true);

  // A crash of the database empties the table: readers write their rows again.
  await db.deleteFrom("open_streams").execute();
  foreign.renew();
  await foreign.opened();
  expect(await isNotified()).toBe(true);

  foreign.close();
  await foreign.opened();
  expect(await isNotified()).toBe(false);
  own.close();
  stopListening();
});

test("open streams of a server that is gone are removed by retention, and its own ones when it starts again", async () => {
  const { db, nodeId } = fixture.platform;
  const run = await newRun();
  await db.insertInto("nodes").values({ id: nodeId, heartbeat_at: sql`now()` }).execute();
  const nodes = async () => (await db.selectFrom("open_streams").select("node_id").execute()).map((row) => row.node_id);
  for (const node of [nodeId, "gone"]) await (await openOpenStreams(db, node)).open(run.runId).opened();
  expect((await nodes()).sort()).toEqual([nodeId, "gone"].sort());
  for await (const _ of openStreamRetention(db).remove());
  expect(await nodes()).toEqual([nodeId]);
  await openOpenStreams(db, nodeId);
  expect(await nodes()).toEqual([]);
});

test("a reader who wants no details gets neither those that are stored nor those that are published", async () => {
  const run = await newRun();
  const reply = (text: string): FrameGroup => [
    { event: "assistant", data: { text } },
    { event: "interaction_update", data: { type: "text-delta", text } },
  ];
  const printed: FrameGroup = [
    {
      event: "interaction_update",
      data: { type: "shell-output-delta", event: { callId: "1", case: "stdout", value: { data: "a" } } },
    },
  ];
  const stored = await run.store(printed, reply("a"), printed, reply("b"));
  const reading = readToEnd(run.runId, 0, "brief");
  const published = [...(await run.store(reply("c"), printed)), ...(await run.store(reply("d"), done))];
  hub.publish(run.runId, published);
  const all = [...stored, ...published];
  const brief = texts(all.filter(({ data }) => !data.includes("text-delta")));
  expect(brief.split("\n\n")).toHaveLength(9);
  expect(await reading).toBe(brief);
  expect(await readToEnd(run.runId, 0, "brief")).toBe(brief);
  expect(await readToEnd(run.runId)).toBe(texts(all));
  // From a frame whose details the reader does not have.
  expect(await readToEnd(run.runId, 2, "brief")).toBe(
    texts(all.slice(3).filter(({ data }) => !data.includes("text-delta"))),
  );
});

test("a reader who reconnects, with details or without, from the page or in the middle of one, gets each frame once", async () => {
  const run = await newRun();
  const groups = Array.from({ length: 1_300 }, (_, index): FrameGroup => {
    const text = `t${index}`;
    const detail = { event: "interaction_update", data: { type: "text-delta", text } } as const;
    return index % 7 === 0 ? [detail] : [{ event: "assistant", data: { text } }, detail];
  });
  const stored = await run.store(...groups, done);
  const idsOf = (sse: string) =>
    [...sse.matchAll(/^id: (.*)\nevent: (.*)$/gm)].map(([, id, event]) => `${id} ${event}`);
  const all = idsOf(texts(stored));
  const idOf = (frame = "") => frame.split(" ", 1)[0] ?? "";
  const details = new Set(all.filter((frame, index) => idOf(frame) === idOf(all[index - 1])));
  /** Reads until it has this many frames, and drops the rest of what came with them. */
  const readSome = async (after: number, selection: "all" | "brief", count: number): Promise<string[]> => {
    const leaving = new AbortController();
    const got: string[] = [];
    for await (const { bytes } of hub.read({ runId: run.runId, after, selection }, leaving.signal)) {
      got.push(...idsOf(bytes.toString()));
      if (got.length >= count) leaving.abort();
    }
    return got.slice(0, count);
  };
  const turns = fc.array(fc.tuple(fc.constantFrom("all", "brief"), fc.integer({ min: 100, max: 1_200 })), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(turns, async (connections) => {
      const received: string[] = [];
      const expected: string[] = [];
      for (let [after, turn] = [0, 0]; after < stored.length; turn += 1) {
        const [selection, count] = connections[turn % connections.length] ?? (["all", 1_000] as const);
        received.push(...(await readSome(after, selection, count)));
        // As the SDKs do: the id of an event counts once all its frames have come.
        const next = all[all.indexOf(received.at(-1) ?? "") + 1] ?? "";
        if (selection === "all" && details.has(next)) received.pop();
        const until = (await findEvent(fixture.platform.db, run.runId, idOf(received.at(-1))))?.seq ?? Number.NaN;
        expected.push(...all.slice(after, until).filter((frame) => selection === "all" || !details.has(frame)));
        after = until;
      }
      expect(received).toEqual(expected);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 15) },
  );
});

test("a reader can continue after any frame", async () => {
  const run = await newRun();
  const frames = await run.store(assistant("a"), assistant("b"), assistant("c"), done);
  for (const { seq } of frames.slice(0, -1)) expect(await readToEnd(run.runId, seq)).toBe(texts(frames.slice(seq)));
});

test("two hundred readers that connect at different times receive the same bytes", async () => {
  const run = await newRun();
  const all: Frame[] = [];
  const readers: Promise<string>[] = [];
  for (let round = 0; round < 50; round += 1) {
    readers.push(...Array.from({ length: 4 }, () => readToEnd(run.runId)));
    const frames = await run.store(assistant(`${round}`), assistant("and"));
    all.push(...frames);
    // Every third time another server publishes.
    if (round % 3 !== 0) hub.publish(run.runId, frames);
  }
  const last = await run.store(done);
  hub.publish(run.runId, last);
  expect(new Set(await Promise.all(readers))).toEqual(new Set([texts([...all, ...last])]));
  expect(hub.sources()).toBe(0);
});

test("a reader that disconnects is removed", async () => {
  const run = await newRun();
  const leaving = new AbortController();
  const reading = (async () => {
    for await (const _ of hub.read({ runId: run.runId, after: 0, selection: "all" }, leaving.signal)) leaving.abort();
  })();
  hub.publish(run.runId, await run.store(assistant("a")));
  await reading;
  expect(hub.sources()).toBe(0);
});

test("frames that share an id are consecutive, and no other frame has that id", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3 })), fc.nat(1000), (sizes, after) => {
      const groups = sizes.map((size) => Array.from({ length: size }, () => assistant("x")[0]) as FrameGroup);
      const frames = numberFrames(groups, { after, bornAt: new Date(5) });
      const runs = frames.filter(({ eventId }, index) => eventId !== frames[index - 1]?.eventId);
      expect(runs).toHaveLength(sizes.length);
      expect(new Set(frames.map(({ eventId }) => eventId)).size).toBe(sizes.length);
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => after + index + 1));
    }),
  );
});

test("a frame with any text is one block of lines with a space after each colon", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const [frame] = numberFrames([assistant(text)], { after: 0, bornAt: new Date(0) });
      const lines = encodeFrame(frame as Frame).split("\n");
      expect(lines.map((line) => line.split(" ", 1)[0])).toEqual(["id:", "event:", "data:", "", ""]);
      expect(JSON.parse((lines[2] ?? "").slice("data: ".length))).toEqual({ text });
    }),
  );
});

test("deltas of one interval become one frame, and a record follows the deltas streamed before it", async () => {
  const stored: Frame[] = [];
  const frameWriter = openFrameWriter({
    threadId: "t",
    turnId: "turn",
    bornAt: new Date(0),
    after: 0,
    scrub: (text) => text.replaceAll("hunter2", "[REDACTED]"),
    insertDeltas: async (frames) => void stored.push(...frames),
    publish: () => {},
    onProblem: () => {},
  });
  frameWriter.progress({ type: "text", delta: "the word is " });
  frameWriter.progress({ type: "text", delta: "hunter" });
  frameWriter.progress({ type: "text", delta: "2 and so on" });
  const usage = {
    inputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 1,
    reasoningOutputTokens: 0,
  };
  const blocks = [{ type: "message" as const, text: "the word is [REDACTED] and so on" }];
  const record = { type: "model.replied" as const, blocks, usage, model: "m" };
  await frameWriter.record("t", [{ seq: 1, at: new Date(0).toISOString(), record }], async (frames) => {
    stored.push(...frames);
  });
  const shown = stored.flatMap(({ event, data }) => (event === "assistant" ? JSON.parse(data).text : []));
  expect(shown.join("")).toBe("the word is [REDACTED] and so on");
});

test("what open calls have printed is read over several pages of frames", async () => {
  const run = await newRun();
  const line = (callId: string, data: string): FrameGroup => [
    {
      event: "interaction_update",
      data: { type: "shell-output-delta", event: { callId, value: { data } } },
    } as unknown as FrameGroup[number],
  ];
  const count = 1_300;
  await run.store(
    ...Array.from({ length: count }, (_, index) => line("open", `${index}\n`)),
    assistant("between"),
    line("settled", "not read"),
    line("open", "last"),
  );
  const printed = await readPrinted(fixture.platform.db, run, ["open", "silent"]);
  const lines = Array.from({ length: count }, (_, index) => `${index}\n`).join("");
  expect(printed).toEqual(
    new Map([
      ["open", `${lines}last`],
      ["silent", ""],
    ]),
  );
});
