import fc from "fast-check";
import { expect, test } from "vitest";
import { noticeText } from "../src/app-server/envelope.ts";
import { type Link, mostMessages, openOutbox } from "../src/app-server/outbox.ts";
import type { Notice } from "../src/app-server/pieces.ts";

/** A link that takes nothing until it is let. */
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
  const tell = (...notices: Notice[]) => {
    for (const notice of notices) outbox.notify(notice, noticeText(notice));
  };
  return { ...slow, outbox, full, tell };
}

const told = (sent: Notice[]) =>
  sent.map(({ method, params }) => {
    const text = params.delta ?? (params.deltaBase64 && Buffer.from(String(params.deltaBase64), "base64").toString());
    return text === undefined ? method : `${params.itemId ?? params.stream}: ${text}`;
  });

test("a client that keeps up gets every piece as it came", () => {
  const { sent, take, tell } = openSlow();
  for (const text of ["a", "b"]) {
    tell(delta("1", text));
    take();
  }
  expect(told(sent)).toEqual(["1: a", "1: b"]);
});

test("pieces of one text are joined while the client is slow, but never across what else is said of the item", () => {
  const { sent, take, tell } = openSlow();
  tell(large, delta("1", "a"), delta("2", "x"), delta("1", "b"), completed("1"), delta("1", "c"), delta("2", "y"));
  take();
  expect(told(sent)).toEqual(["warning", "1: ab", "2: xy", "item/completed", "1: c"]);
});

test("output of a command is joined by its bytes, and its two streams keep their order", () => {
  const { sent, take, tell } = openSlow();
  tell(large, output("stdout", "a"), output("stdout", "bc"), output("stderr", "!"), output("stdout", "d"));
  take();
  expect(told(sent)).toEqual(["warning", "stdout: abc", "stderr: !", "stdout: d"]);
});

test("a joined piece stays of a size that can be read", () => {
  const { sent, take, tell } = openSlow();
  const pieces = Array.from({ length: 40 }, () => delta("1", "x".repeat(10_000)));
  tell(large, ...pieces);
  while (sent.length < 2 || sent.reduce((sum, { params }) => sum + String(params.delta ?? "").length, 0) < 400_000)
    take();
  expect(Math.max(...sent.slice(1).map(({ params }) => String(params.delta).length))).toBeLessThan(300_000);
});

test("whoever produces for a client that is waited for waits until it has read", async () => {
  const { outbox, take, tell } = openSlow("wait");
  await outbox.room();
  tell(large, ...Array.from({ length: 3000 }, (_, index) => completed(String(index))));
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

test("a client that is not waited for is let go when too much waits for it", () => {
  const { full, tell } = openSlow("disconnect");
  tell(large, ...Array.from({ length: mostMessages }, (_, index) => completed(String(index))));
  expect(full).toEqual([]);
  tell(completed("one more"));
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

/** What one item was told: its text between the other things said of it. */
const storyOf = (item: string, all: Notice[]): string =>
  all
    .filter(({ params }) => params.itemId === item || (params.item as { id?: string })?.id === item)
    .map(({ params }) => params.delta ?? "<completed>")
    .join("");
const withoutPieces = (all: Notice[]) =>
  all.filter(({ params }) => params.delta === undefined).map(({ params }) => params);

test("however slowly a client reads, it reads the same story", () => {
  const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
  fc.assert(
    fc.property(notices, fc.array(fc.nat(3)), (said, pace) => {
      const { sent, take, tell } = openSlow();
      said.forEach((notice, index) => {
        tell(notice);
        take(pace[index] ?? 0);
      });
      for (let before = -1; before !== sent.length; ) {
        before = sent.length;
        take();
      }
      for (const item of ["1", "2", "3"]) expect(storyOf(item, sent)).toBe(storyOf(item, said));
      expect(withoutPieces(sent)).toEqual(withoutPieces(said));
    }),
    runs,
  );
});
