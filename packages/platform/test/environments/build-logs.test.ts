// The log of a build for readers that are slower than it is.
import { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { appendLog } from "../../src/environments/builds/log.ts";
import { teamKey } from "../../src/foundation/vault/index.ts";
import { openEnvironmentHarness } from "./environment-harness.ts";

const pieces = 400;
const pieceLength = 64 * 1024;

test("a reader that does not read its log costs the server a part of it, and gets the rest when it reads", async () => {
  const harness = await openEnvironmentHarness();
  const { id: environmentId } = await harness.create("shop", { config: { install: "echo hello" } });
  const [latest] = await harness.builds(environmentId);
  if (latest === undefined) return expect.fail("no build");
  const build = await harness.ended(latest);
  const { db, vault } = harness.fixture.platform;
  const key = await teamKey(db, vault, harness.fixture.principal.teamId);
  for (let count = 0; count < pieces; count += 1)
    await appendLog(db, { buildId: build.id, key }, `${"x".repeat(pieceLength - 1)}\n`);
  const path = `/v1/environments/${environmentId}/builds/${build.id}/logs`;
  const written = countWritten();
  for (const accept of ["text/event-stream", "text/plain"]) {
    const { socket, response } = await openLazy(harness.client, { path, accept, written });
    // By then one that does not wait for its reader has written all of it.
    const eager = await harness.client.get(path);
    expect(eager.text.length).toBeGreaterThan(pieces * pieceLength);
    expect(written.get(response) ?? 0).toBeLessThan((pieces * pieceLength) / 2);
    expect(await readRest(socket)).toBeGreaterThan(pieces * pieceLength);
  }
});

/** Characters by response. */
function countWritten(): Map<ServerResponse, number> {
  const written = new Map<ServerResponse, number>();
  const { write } = ServerResponse.prototype;
  const spy = vi.spyOn(ServerResponse.prototype, "write").mockImplementation(function (
    this: ServerResponse,
    ...args: unknown[]
  ) {
    written.set(this, (written.get(this) ?? 0) + String(args[0]).length);
    return Reflect.apply(write, this, args);
  });
  onTestFinished(() => spy.mockRestore());
  return written;
}

interface LazyRequest {
  path: string;
  accept: string;
  written: Map<ServerResponse, number>;
}

/** Once the server has begun to write. */
async function openLazy({ url, key }: { url: string; key: string }, { path, accept, written }: LazyRequest) {
  const before = new Set(written.keys());
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
  );
  const find = () => [...written.keys()].find((response) => !before.has(response));
  await expect.poll(find).toBeDefined();
  return { socket, response: find() as ServerResponse };
}

function readRest(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    socket.on("data", (piece) => {
      bytes += piece.length;
    });
    socket.on("end", () => resolve(bytes));
    socket.resume();
  });
}
