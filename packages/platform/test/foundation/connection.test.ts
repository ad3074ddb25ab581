// Keep-alive settings of connections to the database, as the kernel has them.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { clientOptions } from "../../src/foundation/db/connect.ts";

const hertz = 100;

/** Seconds until the system asks whether the other side is still there; null if it does not. */
function secondsToProbe(port: number): number | null {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const line = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .find((each) => each.includes(`: 0100007F:${local} `));
  const [, kind, ticks = ""] = / (\d\d):([0-9A-F]{8}) /.exec(line ?? "") ?? [];
  return kind === "02" ? Number.parseInt(ticks, 16) / hertz : null;
}

test("a database that is gone without a word is noticed within a minute, also by a query without a time limit", async () => {
  let answer: () => void = () => {};
  const server = createServer((socket) => {
    answer = () => socket.destroy();
    socket.resume().on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const options = clientOptions({ url: `postgres://user@127.0.0.1:${port}/none` });
  const client = new pg.Client({ ...options, connectionTimeoutMillis: 0 });
  client.on("error", () => {});
  const connected = client.connect().catch(() => "ended");
  const { stream } = (client as unknown as { connection: { stream: { localPort: number } } }).connection;
  await expect.poll(() => secondsToProbe(stream.localPort)).toBeLessThanOrEqual(30);
  answer();
  expect(await connected).toBe("ended");
});
