import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const loop = {
  replies: [
    { ...replyWith("Spent."), when: { bodyIncludes: "budget of this run is spent" } },
    call("exec_command", { cmd: "true" }),
  ],
  repeat: "always" as const,
};

test("an endless tool loop under a budget makes as many requests as allowed and ends with exit code 5", async () => {
  const { events: run, requests, run: plain } = await openHarness({ replies: loop });
  const { code, events } = await run(["--budget", "turns=4", "never stop"]);
  expect(code).toBe(5);
  expect(requests()).toHaveLength(4);
  expect(itemsOf(events, "agent_message")).toMatchObject([{ text: "Spent." }]);
  expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "budget", limit: "turns" } });
  const resumed = await plain(["exec", "resume", "--last", "--budget", "turns=6", "go on"]);
  expect(resumed.code).toBe(5);
  expect(requests()).toHaveLength(10);
});

test("a thread whose budget was spent continues with a raised one", async () => {
  const replies = [call("exec_command", { cmd: "true" }), replyWith("Wrapping up."), replyWith("Finished.")];
  const { run } = await openHarness({ replies });
  expect((await run(["exec", "--budget", "turns=2", "work"])).code).toBe(5);
  expect(await run(["exec", "resume", "--last", "--budget", "turns=10", "go on"])).toMatchObject({
    code: 0,
    stdout: "Finished.\n",
  });
});

test.each([
  ["an unknown name", "time=3", "choose from usd=…"],
  ["no number", "turns=many", "expected a whole number"],
  ["money without a price", "usd=1", "the price of scripted is not known"],
])("%s in a budget is refused with exit code 2", async (_, budget, message) => {
  const { run, requests } = await openHarness();
  const { code, stderr } = await run(["exec", "--budget", budget, "hi"]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(requests()).toEqual([]);
});

test("a price from the configuration gives the cost of a run", async () => {
  const config = "[prices.scripted]\ninput = 1.0\noutput = 10.0\n";
  const { events: run } = await openHarness({
    replies: [replyWith("Hi.", { usage: { inputTokens: 100_000, outputTokens: 10_000 } })],
    config,
  });
  const { events } = await run(["--budget", "usd=5", "hi"]);
  expect(events.at(-1)).toMatchObject({ type: "turn.completed", cost_usd: "0.200000" });
});

test("a key in the environment is in no request, event or session file, in any encoding", async () => {
  const canary = "canary-9f8e7d6c5b4a";
  const forms = [canary, Buffer.from(canary).toString("base64"), Buffer.from(canary).toString("hex")];
  const print = `echo ${forms.join(" ")} > out.txt; cat out.txt; env; cat /proc/*/environ 2>/dev/null`;
  const {
    events: run,
    requests,
    records,
  } = await openHarness({ replies: [call("exec_command", { cmd: print }), replyWith(`It is ${canary}.`)] });
  const { stdout, stderr } = await run(["-s", "workspace-write", "leak it"], {
    env: { DEPLOY_TOKEN: canary, AGENT_API_KEY: canary },
  });
  const sent = requests()
    .slice(1)
    .map(({ body }) => JSON.stringify(body))
    .join("");
  for (const form of forms) {
    for (const text of [stdout, stderr, JSON.stringify(records())]) expect(text).not.toContain(form);
    // The model wrote the first command itself; the results it gets are redacted.
    expect(sent).not.toContain(form);
  }
});

test("the changes made before the budget was spent are kept as a patch that applies", async () => {
  const replies = [
    call("exec_command", { cmd: "echo changed > README.md; mkdir src; echo new > src/new.txt" }),
    replyWith("Spent."),
  ];
  const harness = await openHarness({ replies });
  expect((await harness.run(["exec", "-s", "workspace-write", "--budget", "turns=2", "work"])).code).toBe(5);
  const patch = harness.sessionFile().replace(/\.jsonl$/, ".partial.patch");
  await harness.git("stash", "--include-untracked");
  await harness.git("apply", patch);
  expect(readFileSync(join(harness.repository, "src/new.txt"), "utf8")).toBe("new\n");
  expect(readFileSync(join(harness.repository, "README.md"), "utf8")).toBe("changed\n");
});

test("with --on-limit wait, a rate limit with a reset time is waited for", async () => {
  const limited = { status: 429, headers: { "retry-after": "1" } };
  const harness = await openHarness({
    replies: [limited, limited, replyWith("Back.")],
    config: "request_max_retries = 0\n",
  });
  const { code, stdout } = await harness.run(["exec", "--on-limit", "wait", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Back.\n" });
  expect(harness.requests()).toHaveLength(3);
});
