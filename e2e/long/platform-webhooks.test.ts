// Two servers that deliver: the one that has a message in hand is killed, and the other delivers within a minute.
import { expect, onTestFinished, test } from "vitest";
import { openReceiver, status } from "../../packages/platform/test/receiver.ts";
import { platformDesk } from "../platform-harness.ts";

test("a delivery outlives the server that was making it", async () => {
  const desk = await platformDesk();
  const key = await desk.key();
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const serve = (role: string) => desk.serve(["--role", role], { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" });
  const [{ url }, delivering] = [await serve("api,runner"), await serve("scheduler")];
  receiver.answer(() => {});
  await fetch(`${url}/v1/agents`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: { text: "say hello" }, webhook: { url: receiver.url } }),
  });
  const [first] = await receiver.arrived(1);
  // Before the kill: a server that starts after it would be the killed one's next life.
  await serve("scheduler");
  await delivering.stop("SIGKILL");
  receiver.answer(status(200));
  const killedAt = Date.now();
  const [, second] = await receiver.arrived(2);
  console.log(`delivered by the other server ${Date.now() - killedAt} ms after the kill`);
  expect(Date.now() - killedAt).toBeLessThan(60_000);
  expect(second?.headers["x-webhook-id"]).toBe(first?.headers["x-webhook-id"]);
}, 120_000);
