// A container that a Docker daemon does not end is an error, not a wait without end.
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { killContainer } from "../../src/machines/docker/container.ts";
import { openEngine } from "../../src/machines/docker/engine.ts";

/** A daemon whose container goes on whatever it is asked; it answers a kill with this status. */
async function openStubborn(killStatus: number) {
  const socketPath = join(mkdtempSync(join(tmpdir(), "daemon-")), "socket");
  const server = createServer((request, response) => {
    if (request.url?.endsWith("/wait")) return;
    const isKill = request.url?.endsWith("/kill");
    response.statusCode = isKill ? killStatus : 200;
    response.end(JSON.stringify(isKill ? { message: "cannot kill" } : { State: { Running: true, Paused: false } }));
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return openEngine(socketPath);
}

test("a kill that the daemon refuses is reported", async () => {
  const engine = await openStubborn(500);
  await expect(killContainer(engine, "one")).rejects.toThrow("The Docker daemon refused: cannot kill");
});

test("a container that goes on after its kill is reported", async () => {
  const engine = await openStubborn(204);
  await expect(killContainer(engine, "one", 10)).rejects.toThrow(/did not answer .*\/wait within 0.01 seconds/);
});
