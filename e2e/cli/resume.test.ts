import { readFileSync, writeFileSync } from "node:fs";
import { call, replyWith, stall, temporaryRepository, waitForExit } from "@agentcli/testkit";
import { itemsOf, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

const texts = (request: { body: unknown } | undefined) =>
  JSON.stringify((request?.body as { input?: unknown } | undefined)?.input);

test("a follow-up continues the same thread and the same file", async () => {
  const { events, requests, home } = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  const first = await events(["remember the word marmalade"]);
  const second = await events(["resume", "--last", "which word?"]);
  expect(second.events[0]).toMatchObject({ type: "thread.started", thread_id: first.events[0]?.thread_id });
  expect(texts(requests()[1])).toContain("marmalade");
  expect(texts(requests()[1])).toContain("First.");
  expect(sessionFiles(home)).toHaveLength(1);
});

test("the id printed by the first run resumes it, with the prompt from standard input too", async () => {
  const { events, run, requests } = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  const id = String((await events(["hello"])).events[0]?.thread_id);
  const { stdout } = await run(["exec", "resume", id, "-"], { stdin: "and now?" });
  expect(stdout).toBe("Second.\n");
  expect(texts(requests()[1])).toContain("and now?");
});

test("the request of a resumed thread starts with the same bytes as the previous one", async () => {
  const { run, requests } = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  await run(["exec", "hello"]);
  await run(["exec", "resume", "--last", "again"]);
  const [before, after] = requests().map(
    ({ body }) => body as { instructions: string; tools: unknown; input: unknown[] },
  );
  expect(after?.instructions).toBe(before?.instructions);
  expect(after?.tools).toEqual(before?.tools);
  expect(after?.input.slice(0, before?.input.length)).toEqual(before?.input);
});

test("--last takes the newest session of this directory, --all of any", async () => {
  const { run, requests } = await openHarness({
    replies: [replyWith("Here."), replyWith("There."), replyWith("Back here."), replyWith("Anywhere.")],
  });
  const other = await temporaryRepository();
  onTestFinished(other.remove);
  await run(["exec", "the first place"]);
  await run(["exec", "the second place"], { cwd: other.path });
  await run(["exec", "resume", "--last", "go on"]);
  expect(texts(requests()[2])).toContain("the first place");
  writeFileSync(`${other.path}/touch.txt`, "");
  await run(["exec", "resume", "--last", "--all", "go on"], { cwd: other.path });
  expect(texts(requests()[3])).toContain("go on");
});

test("a resume without a prompt and without an open turn is refused", async () => {
  const { run } = await openHarness({ replies: [replyWith("Done.")] });
  await run(["exec", "hello"]);
  const { code, stderr } = await run(["exec", "resume", "--last"]);
  expect(code).toBe(2);
  expect(stderr).toContain("has no turn to continue");
});

test("a read-only thread stays read-only when the configuration allows more, and a flag widens it", async () => {
  const patch = { input: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch" };
  const replies = [
    replyWith("Read."),
    call("apply_patch", patch),
    replyWith("No."),
    call("apply_patch", patch),
    replyWith("Yes."),
  ];
  const { events, home } = await openHarness({ replies });
  await events(["-s", "read-only", "look"]);
  writeFileSync(
    `${home}/config.toml`,
    `sandbox_mode = "workspace-write"\n${readFileSync(`${home}/config.toml`, "utf8")}`,
  );
  const kept = await events(["resume", "--last", "write"]);
  expect(kept.events[0]).toMatchObject({ sandbox: { mode: "read-only" } });
  expect(itemsOf(kept.events, "file_change")).toMatchObject([{ status: "declined" }]);
  const widened = await events(["-s", "workspace-write", "resume", "--last", "write"]);
  expect(widened.events[0]).toMatchObject({ sandbox: { mode: "workspace-write" } });
  expect(itemsOf(widened.events, "file_change")).toMatchObject([{ status: "completed" }]);
});

test("--ephemeral leaves no session behind", async () => {
  const { run, home } = await openHarness({ replies: [replyWith("Gone.")] });
  expect((await run(["exec", "--ephemeral", "hello"])).stdout).toBe("Gone.\n");
  expect(sessionFiles(home)).toEqual([]);
});

test("a truncated last line is repaired and the thread continues", async () => {
  const { run, sessionFile, records } = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  await run(["exec", "hello"]);
  const whole = readFileSync(sessionFile(), "utf8");
  writeFileSync(sessionFile(), `${whole}{"v":1,"seq":6,"at":"2026`);
  expect((await run(["exec", "resume", "--last", "again"])).stdout).toBe("Second.\n");
  expect(records().map(({ seq }) => seq)).toEqual(records().map((_, index) => index + 1));
});

test("a record of an unknown type is kept and skipped, a damaged line is named", async () => {
  const { run, sessionFile } = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  await run(["exec", "hello"]);
  const whole = readFileSync(sessionFile(), "utf8");
  writeFileSync(
    sessionFile(),
    `${whole}{"v":1,"seq":6,"at":"2026-01-01T00:00:00.000Z","record":{"type":"from.later"}}\n`,
  );
  expect((await run(["exec", "resume", "--last", "again"])).stdout).toBe("Second.\n");
  expect(readFileSync(sessionFile(), "utf8")).toContain("from.later");
  writeFileSync(sessionFile(), readFileSync(sessionFile(), "utf8").replace('"turn.begun"', '"turn.begun'));
  const { code, stderr } = await run(["exec", "resume", "--last", "again"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/line 3 is not a session record/);
});

test.each([
  ["emptied", () => "", /Session .* is empty or damaged/],
  ["without its first line", (text: string) => text.slice(text.indexOf("\n") + 1), /records are missing before line 1/],
  ["without a line in the middle", withoutThirdLine, /records are missing before line 3/],
])("a session %s is refused, and left as it is", async (_, damage, message) => {
  const { run, sessionFile, records, requests } = await openHarness({ replies: [replyWith("First.")] });
  await run(["exec", "hello"]);
  const thread = String(records()[0]?.record.threadId);
  const damaged = damage(readFileSync(sessionFile(), "utf8"));
  writeFileSync(sessionFile(), damaged);
  expect(await run(["exec", "resume", thread, "again"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(message),
  });
  expect(readFileSync(sessionFile(), "utf8")).toBe(damaged);
  expect(requests()).toHaveLength(1);
});

function withoutThirdLine(text: string): string {
  const lines = text.split("\n");
  return [...lines.slice(0, 2), ...lines.slice(3)].join("\n");
}

test("a conversation that exceeds the context window is summarised and continues", async () => {
  const long = "words ".repeat(1_500);
  const replies = [
    { ...replyWith("SUMMARY: we talked."), when: { bodyIncludes: "hand-over summary" } },
    { messages: [`An answer. ${long}`], usage: null },
  ];
  const { run, requests, records } = await openHarness({ replies: { replies, repeat: "always" }, config: "" });
  const args = ["-c", "model_context_window=16000"];
  await run(["exec", ...args, "turn 0"]);
  for (let turn = 1; turn < 12; turn += 1) {
    expect((await run(["exec", ...args, "resume", "--last", `turn ${turn} ${long}`])).code).toBe(0);
  }
  expect(records().filter(({ record }) => record.type === "context.compacted").length).toBeGreaterThanOrEqual(2);
  for (const request of requests()) expect(JSON.stringify(request.body).length / 4).toBeLessThan(16_000);
  expect(texts(requests().at(-1))).toContain("SUMMARY: we talked.");
});

test("a resumed open turn has the model and the budget of its flags", async () => {
  const harness = await openHarness({ replies: [stall("after-headers"), replyWith("Finished.")] });
  const child = harness.start(["exec", "--budget", "turns=5", "work"]);
  while (harness.requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  await waitForExit(child);
  const resumed = await harness.run(["exec", "resume", "--last", "--budget", "turns=7", "--model", "other"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "Finished.\n" });
  expect(harness.requests().at(-1)?.body).toMatchObject({ model: "other" });
  const noted = harness.records().find(({ record }) => record.type === "noted" && record.kind === "policy");
  expect(noted?.record.data).toMatchObject({ settings: { model: "other", budget: { turns: 7 } } });
});
