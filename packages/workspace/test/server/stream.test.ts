// The byte-stream server under back-pressure and errors.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveWorkspace } from "../../src/server/stream.ts";
import { bash, until } from "../support/commands.ts";
import { openInProcess, temporaryDirectory } from "../support/locations.ts";

test("a slow reader suspends the process instead of filling memory, and no output is lost", async () => {
  const root = temporaryDirectory();
  const server = openInProcess(root);
  const [there, back] = [new PassThrough(), new PassThrough()];
  const served = serveWorkspace(server, there, back);
  const bytes = 50_000_000;
  const start = { argv: ["bash", "-c", `head -c ${bytes} /dev/zero | tr '\\0' x; echo; touch finished`] };
  there.write(`${JSON.stringify({ frame: "call", call: 1, operation: "exec", request: { id: "a", start } })}\n`);
  await until(() => back.writableNeedDrain);
  // Waits as long as the same work takes elsewhere: without back-pressure it would have finished by then.
  const other = openInProcess(root);
  await bash(other, `head -c ${bytes} /dev/zero | tr '\\0' x`);
  await other.close();
  expect(existsSync(join(root, "finished"))).toBe(false);
  expect(back.readableLength + back.writableLength).toBeLessThan(2_000_000);

  let received = "";
  let count = 0;
  back.on("data", (data: Buffer) => {
    received = (received + data.toString("latin1")).slice(-2000);
    count += data.length;
  });
  await until(() => received.includes('"result"'));
  expect(count).toBeGreaterThan(bytes);
  expect(received).toContain('"exitCode":0');
  there.end();
  await served;
  await server.close();
  rmSync(root, { recursive: true });
});

test("a failed operation returns an error frame, and the server keeps running", async () => {
  const root = temporaryDirectory();
  const server = openInProcess(root);
  const [there, back] = [new PassThrough(), new PassThrough()];
  let received = "";
  back.on("data", (data) => {
    received += data;
  });
  const served = serveWorkspace(server, there, back);
  there.write('{"frame":"call","call":1,"operation":"read","request":null}\n');
  there.write('{"frame":"call","call":2,"operation":"status","request":null}\n');
  await until(() => received.includes('"call":1') && received.includes('"call":2'));
  expect(received).toContain('{"frame":"error","call":1,');
  expect(received).toContain('{"frame":"result","call":2,');
  there.end();
  await served;
  await server.close();
  rmSync(root, { recursive: true });
});
