import { readFileSync, writeFileSync } from "node:fs";
import { call, say, stall, temporaryRepository } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { desk, ended, itemsOf, sessionFiles } from "./harness.ts";

const texts = (request: { body: unknown } | undefined) =>
  JSON.stringify((request?.body as { input?: unknown } | undefined)?.input);

test("a follow-up goes on in the same thread and the same file", async () => {
  const { events, requests, home } = await desk({ replies: [say("First."), say("Second.")] });
  const first = await events(["remember the word marmalade"]);
  const second = await events(["resume", "--last", "which word?"]);
  expect(second.events[0]).toMatchObject({ type: "thread.started", thread_id: first.events[0]?.thread_id });
  expect(texts(requests()[1])).toContain("marmalade");
  expect(texts(requests()[1])).toContain("First.");
  expect(sessionFiles(home)).toHaveLength(1);
});

test("the id printed by the first run resumes it, with the prompt from standard input too", async () => {
  const { events, run, requests } = await desk({ replies: [say("First."), say("Second.")] });
  const id = String((await events(["hello"])).events[0]?.thread_id);
  const { stdout } = await run(["exec", "resume", id, "-"], { stdin: "and now?" });
  expect(stdout).toBe("Second.\n");
  expect(texts(requests()[1])).toContain("and now?");
});

test("the request of a resumed thread begins with the same bytes as the one before", async () => {
  const { run, requests } = await desk({ replies: [say("First."), say("Second.")] });
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
  const { run, requests } = await desk({ replies: [say("Here."), say("There."), say("Back here."), say("Anywhere.")] });
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
  const { run } = await desk({ replies: [say("Done.")] });
  await run(["exec", "hello"]);
  const { code, stderr } = await run(["exec", "resume", "--last"]);
  expect(code).toBe(2);
  expect(stderr).toContain("has no turn to go on with");
});

test("a read-only thread stays read-only when the configuration allows more, and a flag widens it", async () => {
  const patch = { input: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch" };
  const replies = [say("Read."), call("apply_patch", patch), say("No."), call("apply_patch", patch), say("Yes.")];
  const { events, home } = await desk({ replies });
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
  const { run, home } = await desk({ replies: [say("Gone.")] });
  expect((await run(["exec", "--ephemeral", "hello"])).stdout).toBe("Gone.\n");
  expect(sessionFiles(home)).toEqual([]);
});

test("a last line cut short is repaired and the thread goes on", async () => {
  const { run, sessionFile, records } = await desk({ replies: [say("First."), say("Second.")] });
  await run(["exec", "hello"]);
  const whole = readFileSync(sessionFile(), "utf8");
  writeFileSync(sessionFile(), `${whole}{"v":1,"seq":6,"at":"2026`);
  expect((await run(["exec", "resume", "--last", "again"])).stdout).toBe("Second.\n");
  expect(records().map(({ seq }) => seq)).toEqual(records().map((_, index) => index + 1));
});

test("a record of an unknown type is kept and passed over, a damaged line is named", async () => {
  const { run, sessionFile } = await desk({ replies: [say("First."), say("Second.")] });
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

test("a conversation that outgrows the window is summarised and goes on", async () => {
  const long = "words ".repeat(1_500);
  const replies = [
    { ...say("SUMMARY: we talked."), when: { bodyIncludes: "hand-over summary" } },
    { messages: [`An answer. ${long}`], usage: null },
  ];
  const { run, requests, records } = await desk({ replies: { replies, repeat: "always" }, config: "" });
  const args = ["-c", "model_context_window=16000"];
  await run(["exec", ...args, "turn 0"]);
  for (let turn = 1; turn < 12; turn += 1) {
    expect((await run(["exec", ...args, "resume", "--last", `turn ${turn} ${long}`])).code).toBe(0);
  }
  expect(records().filter(({ record }) => record.type === "context.compacted").length).toBeGreaterThanOrEqual(2);
  for (const request of requests()) expect(JSON.stringify(request.body).length / 4).toBeLessThan(16_000);
  expect(texts(requests().at(-1))).toContain("SUMMARY: we talked.");
});

test("an open turn that is taken up again has the model and the budget of its flags", async () => {
  const place = await desk({ replies: [stall("after-headers"), say("Finished.")] });
  const child = place.start(["exec", "--budget", "turns=5", "work"]);
  while (place.requests().length === 0) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  await ended(child);
  const resumed = await place.run(["exec", "resume", "--last", "--budget", "turns=7", "--model", "other"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "Finished.\n" });
  expect(place.requests().at(-1)?.body).toMatchObject({ model: "other" });
  const noted = place.records().find(({ record }) => record.type === "noted" && record.kind === "policy");
  expect(noted?.record.data).toMatchObject({ settings: { model: "other", budget: { turns: 7 } } });
});
