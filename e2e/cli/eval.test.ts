import { type Reply, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const cases = `cases:
  - name: greets
    prompt: greet the user
    model: [{ message: not used }]
    expect: { message: hello }
  - name: counts
    prompt: count to two
    expect: { message: /one.*two/ }
`;

const priced = "[prices.steady]\ninput = 1\noutput = 1\n[prices.moody]\ninput = 1\noutput = 1\n";

/** \`steady\` is always right; \`moody\` greets every second time, and its provider fails once in four requests. */
function openModels() {
  let asked = 0;
  const answer = (body: string): Reply => {
    const greeting = body.includes("greet the user");
    const right = { ...replyWith(greeting ? "hello" : "one two"), usage: { inputTokens: 900, outputTokens: 100 } };
    if (body.includes('"model":"steady"')) return right;
    asked += 1;
    if (asked % 4 === 0) return { status: 400, body: { error: { message: "cannot do that" } } };
    return asked % 2 === 0 ? { ...right, messages: ["good morning"] } : right;
  };
  return openHarness({
    replies: answer,
    files: { ".agentcli/tests/a.yaml": cases },
    config: priced,
  });
}

test("an evaluation prints how often each case passed with each model, why it failed, and the cost", async () => {
  const harness = await openModels();
  const args = ["eval", ".agentcli/tests/a.yaml", "--runs", "4", "--model", "steady,moody"];
  const { code, stdout, stderr } = await harness.run([...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const file = ".agentcli/tests/a.yaml";
  const { results } = JSON.parse(stdout);
  expect(results).toMatchObject([
    {
      model: "steady",
      file,
      case: "greets",
      runs: 4,
      passed: 4,
      pass_rate: 1,
      cost_usd: expect.closeTo(0.004),
      tokens: 4_000,
    },
    { model: "steady", case: "counts", runs: 4, passed: 4 },
    { model: "moody", case: "greets", runs: 4, passed: 2, pass_rate: 0.5, failures: expect.any(Array) },
    { model: "moody", case: "counts", runs: 4, passed: 2 },
  ]);
  const text = await harness.run([...args, "--min-pass", "50", "--filter", "greets"]);
  expect(text.code).toBe(0);
  expect(text.stdout).toMatch(/^steady\n {2}greets {2}4\/4 passed \(100 %\) {2}\$0\.0040\n/);
  expect(text.stdout).toContain("moody\n  greets  2/4 passed (50 %)");
  expect(text.stdout).toContain('1 of 4: line 5: message hello: it is "good morning"');
  expect(text.stdout).toContain("1 of 4: line 5: message hello: the turn ended without a final message");
});

test("one budget covers all runs of an evaluation", async () => {
  const harness = await openModels();
  const { code, stdout, stderr } = await harness.run([
    "eval",
    ".agentcli/tests",
    "--runs",
    "5",
    "--model",
    "steady",
    "--budget",
    "tokens=6500",
  ]);
  // Six whole runs, and a seventh that may not spend all it needs.
  expect(harness.requests().length).toBeLessThanOrEqual(8);
  expect(code).toBe(5);
  expect(stdout).toMatch(/not run/);
  expect(stderr).toContain("The budget is spent");
});

test("what keeps every run from beginning is reported once, before anything is asked", async () => {
  const harness = await openModels();
  const cases: [args: string[], message: string][] = [
    [["eval"], "No test file given"],
    [["eval", "nowhere.yaml"], "nowhere.yaml does not exist"],
    [["eval", ".agentcli/tests", "--runs", "0"], "--runs 0: expected a whole number from 1 to 1000"],
    [["eval", ".agentcli/tests", "--filter", "nothing"], 'No case has "nothing" in its name'],
    [["eval", ".agentcli/tests", "--model", "unpriced", "--budget", "usd=1"], "the price of unpriced is not known"],
  ];
  for (const [args, message] of cases)
    expect(await harness.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(harness.requests()).toEqual([]);
});
