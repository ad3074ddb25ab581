// The byte-stream form under pressure.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveWorkspace } from "../src/server/stream.ts";
import { bash, until } from "./commands.ts";
import { openHere, temporaryDirectory } from "./places.ts";

test("a reader that does not read holds the process back instead of filling memory, and loses nothing", async () => {
  const root = temporaryDirectory();
  const server = openHere(root);
  const [there, back] = [new PassThrough(), new PassThrough()];
  const served = serveWorkspace(server, there, back);
  const bytes = 50_000_000;
  const start = { argv: ["bash", "-c", `head -c ${bytes} /dev/zero | tr '\\0' x; echo; touch finished`] };
  there.write(`${JSON.stringify({ frame: "call", call: 1, operation: "exec", request: { id: "a", start } })}\n`);
  await until(() => back.writableNeedDrain);
  // As long as the same work takes elsewhere: unheld, it would be through by then.
  const other = openHere(root);
  await bash(other, `head -c ${bytes} /dev/zero | tr '\\0' x`);
  await other.close();
  expect(existsSync(join(root, "finished"))).toBe(false);
  expect(back.readableLength + back.writableLength).toBeLessThan(2_000_000);

  let said = "";
  let count = 0;
  back.on("data", (data: Buffer) => {
    said = (said + data.toString("latin1")).slice(-2000);
    count += data.length;
  });
  await until(() => said.includes('"result"'));
  expect(count).toBeGreaterThan(bytes);
  expect(said).toContain('"exitCode":0');
  there.end();
  await served;
  await server.close();
  rmSync(root, { recursive: true });
});

test("what fails in an operation is an error frame, and the server goes on", async () => {
  const root = temporaryDirectory();
  const server = openHere(root);
  const [there, back] = [new PassThrough(), new PassThrough()];
  let said = "";
  back.on("data", (data) => {
    said += data;
  });
  const served = serveWorkspace(server, there, back);
  there.write('{"frame":"call","call":1,"operation":"read","request":null}\n');
  there.write('{"frame":"call","call":2,"operation":"status","request":null}\n');
  await until(() => said.includes('"call":1') && said.includes('"call":2'));
  expect(said).toContain('{"frame":"error","call":1,');
  expect(said).toContain('{"frame":"result","call":2,');
  there.end();
  await served;
  await server.close();
  rmSync(root, { recursive: true });
});
