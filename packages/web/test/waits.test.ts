// What an agent waits for, in a browser: a wait is cancelled after a question.
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { startChromium, visit } from "./chromium.ts";

startChromium();

test("a wait of an agent is cancelled after a question, and is shown as cancelled from then on", async () => {
  const { fixture, client } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { agentId } = await client.create({ prompt: { text: "look at it tomorrow" } });
  const filter = { source: "timer", delaySeconds: 3_600, note: "Look at the build" };
  await client.send("POST", `/v1/agents/${agentId}/subscriptions`, { filter });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}/waits`);
  const row = page.locator("tr", { hasText: "A timer: Look at the build" });
  const question = page.getByRole("dialog", { name: "Cancel this wait?" });
  await row.getByRole("button", { name: "Cancel" }).click();
  await question.getByText("The agent is not woken any more by: A timer: Look at the build").waitFor();
  expect(await findBarriers()).toEqual([]);
  await question.getByRole("button", { name: "Keep" }).click();
  await row.getByText("Waiting").waitFor();
  await row.getByRole("button", { name: "Cancel" }).click();
  await question.getByRole("button", { name: "Cancel" }).click();
  await row.getByRole("button").waitFor({ state: "detached" });
  await row.getByText("Cancelled").waitFor();
  expect(complaints).toEqual([]);
});
