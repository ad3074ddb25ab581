import { call, fault, type Reply, replyWith, startModelServer } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

type WireName = "responses" | "chat" | "anthropic";

const used = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 0 } });
const overloaded = (): Reply => fault(529, { body: { error: { type: "overloaded_error", message: "Overloaded" } } });
const quotaUsedUp = (): Reply => fault(429, { body: { error: { code: "insufficient_quota", message: "No credit." } } });

/** The model `scripted`, and the model `second` of another provider that speaks another wire. */
async function openTwoProviders(wires: [WireName, WireName], replies: { scripted: Reply[]; second: Reply[] }) {
  const second = await startModelServer(replies.second);
  onTestFinished(() => second.close());
  const config = `request_max_retries = 0
[model_providers.other]
base_url = "${second.url}"
wire_api = "${wires[1]}"
[prices.scripted]
input = 100
output = 100
[prices.second]
input = 200
output = 200
`;
  const harness = await openHarness({ wireApi: wires[0], replies: replies.scripted, config });
  return { ...harness, second, chain: ["-c", 'model_fallback=["other/second"]'] };
}

test.each<[WireName, WireName]>([
  ["responses", "anthropic"],
  ["anthropic", "chat"],
  ["chat", "responses"],
])("a turn whose model is overloaded on the %s wire goes on with the next one on the %s wire", async (...wires) => {
  const { events, run, requests, second, chain } = await openTwoProviders(wires, {
    scripted: [call("exec_command", { cmd: "echo begun" }, used(10_000)), overloaded(), replyWith("Main again.")],
    second: [call("exec_command", { cmd: "echo second" }, used(10_000)), replyWith("Done.", used(5_000))],
  });
  const result = await events([...chain, "--budget", "usd=100", "work"]);
  expect(result).toMatchObject({ code: 0 });
  expect(itemsOf(result.events, "error")).toMatchObject([
    { message: expect.stringMatching(/Overloaded.*The model other\/second is asked until the end of the turn/) },
  ]);
  expect(itemsOf(result.events, "command_execution").map(({ aggregated_output }) => aggregated_output)).toEqual([
    "begun\n",
    "second\n",
  ]);
  expect(result.events.at(-1)).toMatchObject({ type: "turn.completed", cost_usd: "4.000000" });
  expect(JSON.stringify(second.requests()[0]?.body)).toContain("begun");
  // The next turn begins with the model of the thread.
  const resumed = await run(["exec", "resume", "--last", ...chain, "and now?"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "Main again.\n" });
  expect([requests().length, second.requests().length]).toEqual([3, 2]);
});

test("one budget covers all models of a turn", async () => {
  const { events, second, chain } = await openTwoProviders(["responses", "responses"], {
    scripted: [quotaUsedUp(), replyWith("The money is spent.")],
    second: [call("exec_command", { cmd: "true" }, used(4_000)), replyWith("The money is spent.")],
  });
  const { code, events: shown } = await events([...chain, "--budget", "usd=1", "work"]);
  expect(code).toBe(5);
  expect(shown.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "budget", limit: "usd" } });
  expect(second.requests().length).toBeLessThanOrEqual(2);
});

test("a chain without a key, an unknown price or an unknown provider is refused before the run starts", async () => {
  const { run, requests } = await openHarness({ config: "[prices.scripted]\ninput = 1\noutput = 1\n" });
  const refused = async (chain: string, ...flags: string[]) =>
    run(["exec", "-c", `model_fallback=["${chain}"]`, ...flags, "hi"]);
  expect(await refused("anthropic/claude-sonnet-4-5")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  expect(await refused("second", "--budget", "usd=1")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the price of second is not known"),
  });
  expect(requests()).toEqual([]);
});
