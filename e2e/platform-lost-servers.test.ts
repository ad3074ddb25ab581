// A run that takes its server with it, again and again, with the built program and real kills.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, say } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { platformDesk } from "./platform-desk.ts";

/** Whoever clones from it waits for ever: a run that gets no further than that has written nothing. */
async function silentGit(): Promise<string> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/repository`;
}

test("a run outlives four servers that end before it gets on, and is given up with the fifth; its neighbours finish", async () => {
  const desk = await platformDesk({
    replies: { replies: [say("Done.")], repeat: "last" },
    config: 'network.allow_private = ["127.0.0.0/8"]\n',
  });
  onTestFinished(desk.close);
  const repos = [{ url: await silentGit() }];
  let server = await desk.start();
  const stuck = await desk.client.create({ prompt: { text: "clone" }, repos });
  const epoch = async (): Promise<number> =>
    (
      await desk.database.db
        .selectFrom("runs")
        .select("lease_epoch")
        .where("id", "=", stuck.runId)
        .executeTakeFirstOrThrow()
    ).lease_epoch;
  for (let life = 1; life <= 5; life++) {
    await eventually(async () => (await epoch()) === life);
    expect((await desk.client.read(stuck)).status).not.toBe("ERROR");
    server.signal("SIGKILL");
    await server.gone;
    server = await desk.start();
  }
  const neighbour = await desk.client.create({ prompt: { text: "hello" } });
  expect((await desk.client.stream(stuck)).at(-2)?.data).toMatchObject({
    status: "ERROR",
    error: { code: "internal" },
  });
  expect((await desk.client.stream(neighbour)).at(-2)?.data).toMatchObject({ status: "FINISHED" });
  expect(await epoch()).toBe(6);
});
