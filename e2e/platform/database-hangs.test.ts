// The embedded PostgreSQL, paused with SIGSTOP: requests and shutdown end in time, and all goes on after SIGCONT.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { unusedPort, waitForExit } from "@agentcli/testkit";
import { embeddedPostgres, openClient, openPlatformForTest, sendRequest } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

test("while the database is paused requests get 503 and SIGTERM ends the server; the next one continues its runs", async () => {
  const harness = await openPlatformForTest({
    database: "embedded",
    replies: { replies: [{ messages: ["done"] }], repeat: "last" },
    env: { PLATFORM_QUERY_TIMEOUT_SECONDS: "5", PLATFORM_STOP_TIMEOUT_SECONDS: "5" },
  });
  const listen = `127.0.0.1:${await unusedPort()}`;
  const server = await harness.serve({ listen });
  const client = openClient(server.url, await harness.key());
  const paused = embeddedPostgres(harness.data) ?? 0;
  onTestFinished(() => signal(paused, "SIGCONT"));
  const ready = async () => (await sendRequest(server.url, { method: "GET", path: "/readyz" })).status;

  signal(paused, "SIGSTOP");
  const [refused, command] = await Promise.all([client.send("GET", "/v1/agents"), harness.run(["keys", "list"])]);
  expect(command).toMatchObject({ code: 1, stderr: expect.stringContaining("runs, but does not answer") });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
  expect(await ready()).toBe(503);
  signal(paused, "SIGCONT");
  await expect.poll(ready).toBe(200);

  const ids = await client.create({ prompt: { text: "do it" } });
  signal(paused, "SIGSTOP");
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.log().join("\n")).toContain("server.stopped_late");
  // Neither a stack nor a warning of a library: readers of the log get one JSON object per line.
  expect(server.log().filter((line) => !line.startsWith('{"at":'))).toEqual([]);
  signal(paused, "SIGCONT");
  await harness.serve({ listen });
  await expect.poll(async () => (await client.read(ids)).status).toBe("FINISHED");
});

test("SIGTERM ends a server that waits for a database that does not answer while it starts", async () => {
  const silent = createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const harness = await openPlatformForTest({
    database: "embedded",
    env: { PLATFORM_STOP_TIMEOUT_SECONDS: "1", DATABASE_URL: `postgres://platform@127.0.0.1:${port}/platform` },
  });
  const connected = once(silent, "connection");
  const starting = harness.start(["serve", "--listen", "127.0.0.1:0"]);
  const result = waitForExit(starting);
  const [socket] = (await connected) as [Socket];
  onTestFinished(() => void socket.destroy());
  starting.kill("SIGTERM");
  expect(await result).toMatchObject({ code: 143, stderr: "ERROR: Stopped by SIGTERM.\n" });
});

/** To the server process and to those that serve its connections. */
function signal(pid: number, name: NodeJS.Signals): void {
  for (const each of [pid, ...childrenOf(pid)])
    try {
      process.kill(each, name);
    } catch {
      // It has ended.
    }
}

const childrenOf = (pid: number): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}
