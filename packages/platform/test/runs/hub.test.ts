// Readers of a run and how often they cost a look into the database.
import { expect, test } from "vitest";
import type { Listener } from "../../src/foundation/index.ts";
import { type Frame, openHub } from "../../src/runs/streams/index.ts";

const frame = (seq: number, event = "assistant"): Frame => ({ seq, event, eventId: `1-${seq}`, data: `{"n":${seq}}` });

/** Frames that are stored by whichever server, and a hub that has read them so often. */
async function fixture() {
  const stored: Frame[] = [frame(1)];
  const reads: number[] = [];
  let listener: Listener | undefined;
  const hub = await openHub({
    pages: {
      async read(_runId, after) {
        reads.push(after);
        return stored.filter(({ seq }) => seq > after);
      },
    },
    notifications: {
      async subscribe(_channel, given) {
        listener = given;
        return () => {};
      },
    },
    openStreams: { open: () => ({ async opened() {}, renew() {}, close() {} }) },
  });
  const request = { runId: "run", after: 0, selection: "all" } as const;
  const batches = hub.read(request, new AbortController().signal)[Symbol.asyncIterator]();
  return { hub, stored, reads, batches, notify: () => listener?.onMessage("run") };
}

test("readers on the server that drives a run have its frames without a further look into the database", async () => {
  const { hub, reads, batches } = await fixture();
  expect((await batches.next()).value).toMatchObject({ last: 1 });
  const second = batches.next();
  hub.publish("run", [frame(2)]);
  expect((await second).value).toMatchObject({ last: 2 });
  const third = batches.next();
  hub.publish("run", [frame(3), frame(4, "done")]);
  expect((await third).value).toMatchObject({ last: 4, ends: true });
  expect(reads).toEqual([0]);
  hub.close();
});

test("frames that another server stores arrive after their notification, also where this server drove the run before", async () => {
  const { hub, stored, reads, batches, notify } = await fixture();
  await batches.next();
  const second = batches.next();
  hub.publish("run", [frame(2)]);
  await second;
  stored.push(frame(2), frame(3), frame(4, "done"));
  const third = batches.next();
  notify();
  expect((await third).value).toMatchObject({ last: 4, ends: true });
  expect(reads).toEqual([0, 2]);
  hub.close();
});

test("a frame that is stored while a page is read is not waited for", async () => {
  const { hub, stored, reads, batches, notify } = await fixture();
  const first = batches.next();
  while (reads.length === 0) await Promise.resolve();
  notify();
  stored.push(frame(2, "done"));
  expect((await first).value).toMatchObject({ last: 1 });
  expect((await batches.next()).value).toMatchObject({ last: 2, ends: true });
  hub.close();
});
