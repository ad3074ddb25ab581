import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const usage = { inputTokens: 100_000, outputTokens: 10_000 };

test("the cost of runs is shown by model and by tag, including unknown costs", async () => {
  const { run } = await openHarness({
    replies: [
      replyWith("One.", { usage }),
      replyWith("Two.", { usage }),
      replyWith("Three.", { usage, model: "free" }),
    ],
    config: "[prices.scripted]\ninput = 1.0\noutput = 10.0\n",
  });
  await run(["exec", "--tag", "team=web", "one"]);
  await run(["exec", "resume", "--last", "two"]);
  await run(["exec", "three"]);
  const table = await run(["cost", "--since", "7d"]);
  expect(table.code).toBe(0);
  expect(table.stdout.split("\n").map((line) => line.split(/\s{2,}/))).toEqual([
    ["model", "requests", "input", "cached", "output", "USD"],
    ["scripted", "2", "200,000", "0", "20,000", "0.400000"],
    ["free", "1", "100,000", "0", "10,000", "unknown"],
    ["total", "3", "300,000", "0", "30,000", "0.400000 + unknown"],
    [""],
  ]);
  const json = JSON.parse((await run(["cost", "--by", "tag", "--json"])).stdout);
  expect(json).toMatchObject({
    since: null,
    by: "tag",
    groups: [
      { tag: "team=web", requests: 2, cost_usd: "0.400000", unpriced_requests: 0 },
      { tag: "(no tag)", requests: 1, cost_usd: null, unpriced_requests: 1 },
    ],
    total: { requests: 3, input_tokens: 300_000, cost_usd: null, known_cost_usd: "0.400000" },
  });
});

test("without runs the total is zero; invalid arguments are refused", async () => {
  const { run } = await openHarness();
  expect((await run(["cost"])).stdout).toContain("total         0");
  expect(await run(["cost", "--since", "soon"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--since soon"),
  });
  expect(await run(["cost", "--by", "moon"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("model, tag, day"),
  });
});

test("cost --cache shows the hit rate of each turn, and why a prefix broke", async () => {
  const { run } = await openHarness({
    usage: "computed",
    replies: [
      ...[call("exec_command", { cmd: "true" }), replyWith("One.")],
      ...[replyWith("Two."), replyWith("Three.")],
    ],
  });
  expect(await run(["exec", "one"])).toMatchObject({ code: 0 });
  expect(await run(["exec", "resume", "--last", "two"])).toMatchObject({ code: 0 });
  expect(await run(["exec", "resume", "--last", "--model", "other", "three"])).toMatchObject({ code: 0 });
  const { turns } = JSON.parse((await run(["cost", "--cache", "--json"])).stdout);
  expect(
    turns.map(({ requests, breaks }: { requests: number; breaks: unknown[] }) => [requests, breaks.length]),
  ).toEqual([
    [2, 0],
    [1, 0],
    [1, 1],
  ]);
  expect(turns[1].hit_rate).toBeGreaterThan(0.9);
  const { stdout } = await run(["cost", "--cache"]);
  expect(stdout).toMatch(/^turn +requests +input +cached +hit rate$/m);
  expect(stdout).toMatch(/request 4: [\d,]+ tokens not in the cache: the model changed from scripted to other$/m);
  expect(await run(["cost", "--cache", "--by", "day"])).toMatchObject({ code: 2 });
});
