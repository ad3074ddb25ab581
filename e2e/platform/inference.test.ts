import { stall } from "@agentcli/testkit";
import { openClient, servePlatformForTest } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

test("a call whose server is killed costs what was reserved for it", async () => {
  const platform = await servePlatformForTest({
    replies: { replies: [stall("after-headers")], repeat: "last" },
    env: { PLATFORM_PRICES: JSON.stringify({ scripted: { input: 1, output: 10 } }) },
  });
  const client = await platform.client();
  const body = { model: "scripted", input: "Hi", max_output_tokens: 100_000, stream: true };
  const asked = client.post("/v1/inference/responses", body).catch((error: unknown) => error);
  await expect.poll(() => platform.requests().length).toBe(1);
  await platform.server.stop("SIGKILL");
  expect(await asked).toBeInstanceOf(Error);
  const again = openClient((await platform.serveAgain()).url, client.key);
  const { body: usage } = await again.get("/v1/inference/usage");
  expect(usage).toMatchObject({ calls: 1, cost: { chargedCents: expect.closeTo(100, 1) } });
  await platform.harness.run(["teams", "set", "default", "--spend-limit", "1.5"]);
  const refused = await again.post("/v1/inference/responses", { ...body, input: "x".repeat(4_000_000) });
  expect(refused.body).toMatchObject({ error: { code: "spend_limit_reached" } });
});
