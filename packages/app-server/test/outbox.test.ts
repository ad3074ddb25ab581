import fc from "fast-check";
import { expect, test } from "vitest";
import { noticeText } from "../src/dispatch/envelope.ts";
import { type Link, maxMessages, openOutbox } from "../src/dispatch/outbox.ts";
import type { Notice } from "../src/dispatch/pieces.ts";

/** A link that accepts nothing until the test allows it. */
function slowLink(whenFull: Link["whenFull"]) {
  const sent: Notice[] = [];
  const untaken: (() => void)[] = [];
  const link: Link = {
    send(text, taken) {
      sent.push(JSON.parse(text));
      untaken.push(taken);
    },
    close: () => {},
    whenFull,
  };
  const take = (count = Infinity) => {
    for (let taken = 0; taken < count && untaken.length > 0; taken++) untaken.shift()?.();
  };
  return { link, sent, take };
}

const delta = (item: string, text: string): Notice => ({
  method: "item/agentMessage/delta",
  params: { threadId: "t", turnId: "u", itemId: item, delta: text },
});
const completed = (item: string): Notice => ({
  method: "item/completed",
  params: { threadId: "t", turnId: "u", item: { id: item, type: "plan", text: "" }, completedAtMs: 0 },
});
const output = (stream: string, text: string): Notice => ({
  method: "command/exec/outputDelta",
  params: { processId: "p", stream, deltaBase64: Buffer.from(text).toString("base64"), capReached: false },
});
/** Enough to fill what may be in flight. */
const large: Notice = { method: "warning", params: { message: "x".repeat(300_000) } };

function openSlow(whenFull: Link["whenFull"] = "wait") {
  const slow = slowLink(whenFull);
  const full: string[] = [];
  const outbox = openOutbox(slow.link, () => full.push("full"));
  const send = (...notices: Notice[]) => {
    for (const notice of notices) outbox.notify(notice, () => noticeText(notice));
  };
  return { ...slow, outbox, full, send };
}

const textsOf = (sent: Notice[]) =>
  sent.map(({ method, params }) => {
    const text = params.delta ?? (params.deltaBase64 && Buffer.from(String(params.deltaBase64), "base64").toString());
    return text === undefined ? method : `${params.itemId ?? params.stream}: ${text}`;
  });

test("a client that keeps up receives every piece unchanged", () => {
  const { sent, take, send } = openSlow();
  for (const text of ["a", "b"]) {
    send(delta("1", text));
    take();
  }
  expect(textsOf(sent)).toEqual(["1: a", "1: b"]);
});

test("pieces of one text are joined while the client is slow, but never across other notifications of the item", () => {
  const { sent, take, send } = openSlow();
  send(large, delta("1", "a"), delta("2", "x"), delta("1", "b"), completed("1"), delta("1", "c"), delta("2", "y"));
  take();
  expect(textsOf(sent)).toEqual(["warning", "1: ab", "2: xy", "item/completed", "1: c"]);
});

test("output of a command is joined by its bytes, and its two streams keep their order", () => {
  const { sent, take, send } = openSlow();
  send(large, output("stdout", "a"), output("stdout", "bc"), output("stderr", "!"), output("stdout", "d"));
  take();
  expect(textsOf(sent)).toEqual(["warning", "stdout: abc", "stderr: !", "stdout: d"]);
});

test("a joined piece stays below a readable size", () => {
  const { sent, take, send } = openSlow();
  const pieces = Array.from({ length: 40 }, () => delta("1", "x".repeat(10_000)));
  send(large, ...pieces);
  while (sent.length < 2 || sent.reduce((sum, { params }) => sum + String(params.delta ?? "").length, 0) < 400_000)
    take();
  expect(Math.max(...sent.slice(1).map(({ params }) => String(params.delta).length))).toBeLessThan(300_000);
});

test("with the wait policy, producers wait until the client has read", async () => {
  const { outbox, take, send } = openSlow("wait");
  await outbox.room();
  send(large, ...Array.from({ length: 3000 }, (_, index) => completed(String(index))));
  let isRoomy = false;
  const room = outbox.room().then(() => {
    isRoomy = true;
  });
  await Promise.resolve();
  expect(isRoomy).toBe(false);
  while (!isRoomy) {
    take();
    await Promise.resolve();
  }
  await room;
});

test("with the disconnect policy, a client is disconnected when too much is queued for it", () => {
  const { full, send } = openSlow("disconnect");
  send(large, ...Array.from({ length: maxMessages }, (_, index) => completed(String(index))));
  expect(full).toEqual([]);
  send(completed("one more"));
  expect(full).toEqual(["full"]);
});

const notices = fc.array(
  fc.oneof(
    fc.record({ item: fc.constantFrom("1", "2", "3"), text: fc.string() }).map(({ item, text }) => delta(item, text)),
    fc.constantFrom("1", "2", "3").map(completed),
    fc.nat(1000).map((message): Notice => ({ method: "warning", params: { message: String(message) } })),
    fc.constant(large),
  ),
);

/** The notifications of one item: its text between its other notifications. */
const outcomeOf = (item: string, all: Notice[]): string =>
  all
    .filter(({ params }) => params.itemId === item || (params.item as { id?: string })?.id === item)
    .map(({ params }) => params.delta ?? "<completed>")
    .join("");
const withoutPieces = (all: Notice[]) =>
  all.filter(({ params }) => params.delta === undefined).map(({ params }) => params);

test("however slowly a client reads, it reads the same content", () => {
  const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
  fc.assert(
    fc.property(notices, fc.array(fc.nat(3)), (produced, pace) => {
      const { sent, take, send } = openSlow();
      produced.forEach((notice, index) => {
        send(notice);
        take(pace[index] ?? 0);
      });
      for (let before = -1; before !== sent.length; ) {
        before = sent.length;
        take();
      }
      for (const item of ["1", "2", "3"]) expect(outcomeOf(item, sent)).toBe(outcomeOf(item, produced));
      expect(withoutPieces(sent)).toEqual(withoutPieces(produced));
    }),
    runs,
  );
});
