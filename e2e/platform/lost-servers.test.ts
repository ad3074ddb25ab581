// A run whose servers are killed again and again, with the built program.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { call, eventually, replyWith, unusedPort } from "@agentcli/testkit";
import { openPlatformForTest } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

/** A clone from it never ends: a run that gets no further has written no record. */
async function silentGit(): Promise<string> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/repository`;
}

test("a run without progress survives four killed servers and fails with the fifth; other runs finish", async () => {
  const harness = await openPlatformForTest({
    replies: { replies: [replyWith("Done.")], repeat: "last" },
    env: { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" },
  });
  const listen = `127.0.0.1:${await unusedPort()}`;
  const repos = [{ url: await silentGit() }];
  let server = await harness.serve({ listen });
  const client = await harness.client(server);
  const stuck = await client.create({ prompt: { text: "clone" }, repos });
  const epoch = async (): Promise<number | undefined> => {
    const query = "select lease_epoch::int from runs where id = $1";
    const [run] = await harness.database.query<{ lease_epoch: number }>(query, [stuck.runId]);
    return run?.lease_epoch;
  };
  for (let life = 1; life <= 5; life++) {
    await eventually(async () => (await epoch()) === life);
    expect((await client.read(stuck)).status).not.toBe("ERROR");
    await server.stop("SIGKILL");
    server = await harness.serve({ listen });
  }
  const neighbour = await client.create({ prompt: { text: "hello" } });
  expect((await client.stream(stuck)).at(-2)?.data).toMatchObject({
    status: "ERROR",
    error: { code: "internal" },
  });
  expect((await client.stream(neighbour)).at(-2)?.data).toMatchObject({ status: "FINISHED" });
  expect(await epoch()).toBe(6);
});

test("a repository that an agent created before its server was killed is reported on the run", async () => {
  const cmd = "git init -q vendor && git -C vendor config core.fsmonitor ./evil";
  const harness = await openPlatformForTest({
    replies: [call("exec_command", { cmd }), { messages: ["Never."], stall: "before-headers" }, replyWith("Done.")],
  });
  const listen = `127.0.0.1:${await unusedPort()}`;
  const server = await harness.serve({ listen });
  const client = await harness.client(server);
  const run = await client.create({ prompt: { text: "create" } });
  await eventually(() => harness.requests().length === 2);
  await server.stop("SIGKILL");
  await harness.serve({ listen });
  const stream = await client.stream(run);
  expect(stream.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Done." });
  expect(JSON.stringify(stream)).toContain("A run that was killed created the git repository in vendor.");
});
