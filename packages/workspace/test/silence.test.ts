// A connection ends when its other side is silent, not when this process did not run.
import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { endAfterSilence, type Pingable } from "../src/link/index.ts";

const limitMs = 200;

/** Over a real connection: what its peer writes is a message. */
async function openPair() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const own = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [peer] = await accepted;
  onTestFinished(() => {
    for (const one of [own, peer]) one.destroy();
    server.close();
  });
  const events = new EventEmitter();
  own.on("data", () => events.emit("message"));
  let [pings, isEnded] = [0, false];
  const socket = Object.assign(events, {
    ping() {
      pings += 1;
    },
    terminate() {
      isEnded = true;
      events.emit("close");
    },
    ...{ readyState: 1, OPEN: 1 },
  }) satisfies Pingable;
  return { peer, socket, pings: () => pings, isEnded: () => isEnded };
}

test("what arrived while the process did not run counts", async () => {
  const { peer, socket, isEnded } = await openPair();
  endAfterSilence(socket, limitMs);
  onTestFinished(() => void socket.emit("close"));
  const received = once(socket, "message");
  peer.write("x");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * limitMs);
  await received;
  await nextTurn();
  expect(isEnded()).toBe(false);
});

test("a connection whose other side is silent is asked, and ends", async () => {
  const { socket, pings, isEnded } = await openPair();
  const wasEnded: boolean[] = [];
  endAfterSilence(socket, limitMs, () => void wasEnded.push(isEnded()));
  await expect.poll(isEnded).toBe(true);
  expect(pings()).toBeGreaterThan(0);
  expect(wasEnded).toEqual([false]);
});
