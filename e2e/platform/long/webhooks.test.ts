// Two servers that deliver: the one that is delivering a webhook is killed, and the other delivers it within a minute.

import { openPlatformForTest, respondStatus, startWebhookReceiver } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

test("a delivery survives the kill of its server", async () => {
  const harness = await openPlatformForTest();
  const key = await harness.key();
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  const serve = (role: string) =>
    harness.serve({ args: ["--role", role], env: { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" } });
  const [{ url }, delivering] = [await serve("api,runner"), await serve("scheduler")];
  receiver.respondWith(() => {});
  await fetch(`${url}/v1/agents`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: { text: "say hello" }, webhook: { url: receiver.url } }),
  });
  const [first] = await receiver.waitFor(1);
  // Before the kill: a server that starts later would take over the node id of the killed one.
  await serve("scheduler");
  await delivering.stop("SIGKILL");
  receiver.respondWith(respondStatus(200));
  const killedAt = Date.now();
  const [, second] = await receiver.waitFor(2);
  console.log(`delivered by the other server ${Date.now() - killedAt} ms after the kill`);
  expect(Date.now() - killedAt).toBeLessThan(60_000);
  expect(second?.headers["x-webhook-id"]).toBe(first?.headers["x-webhook-id"]);
});
