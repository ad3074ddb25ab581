// A controller whose standard output was closed goes on, whatever its spawn program prints.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { cliProgram, temporaryDirectory, workerProgram } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";

/** In the place of the platform: every claim is granted, and requests come when the test sends them. */
async function servePending() {
  let stream: ServerResponse | undefined;
  const server = createServer((request, response) => {
    if (request.url?.includes("/pending-requests/stream")) {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write(": connected\n\n");
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ requests: [], streamCursor: "c", id: "bc-1", workerId: "w" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isWatched: () => stream !== undefined,
    send(number: number) {
      const labels = [{ key: "pool", value: "p" }];
      const data = JSON.stringify({ id: `bc-${number}`, userId: 1, labels, createdAtMs: number });
      stream?.write(`event: created\nid: ${number}\ndata: ${data}\n\n`);
    },
  };
}

test.each([
  ["agent", workerProgram],
  ["agentcli", cliProgram],
])("%s worker controller starts the next worker after its standard output was closed", async (_, program) => {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const started = join(folder.path, "started");
  const script = join(folder.path, "spawn.sh");
  writeFileSync(script, `#!/bin/sh\necho "$PLATFORM_REQUEST_ID" >> "${started}"\necho starting\n`, { mode: 0o755 });
  const pending = await servePending();
  const { PATH } = process.env;
  const child = spawn(process.execPath, [program, "worker", "controller", "--spawn", script, "--pool", "p"], {
    cwd: folder.path,
    env: { PATH, HOME: folder.path, PLATFORM_BACKEND_URL: pending.url, PLATFORM_API_KEY: "key" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
  });
  child.stdout.destroy();
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const starts = () => (existsSync(started) ? readFileSync(started, "utf8").trim().split("\n") : []);
  await expect.poll(pending.isWatched).toBe(true);
  for (const number of [1, 2]) {
    pending.send(number);
    // Its output has come back: a controller that ends by it has ended now.
    await expect.poll(() => log.split("starting")).toHaveLength(number + 1);
    expect(starts(), log).toHaveLength(number);
  }
  expect(child.exitCode).toBeNull();
});
