// What a client may want of a turn: overrides, shapes, steering, reviews, summaries, pictures and skills.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { startServer, story } from "./app-server-client.ts";
import { completedItems, messagesOf, runTurn, startTurn, text, turnEnd } from "./app-server-turns.ts";
import { type DeskOptions, desk, toolOutputs } from "./harness.ts";

async function opened(options: DeskOptions, params: object = {}) {
  const at = await desk(options);
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const started = await client.request("thread/start", params);
  return { at, server, client, started, threadId: started.thread.id as string };
}

const bodyOf = (request: { body: unknown } | undefined) =>
  request?.body as { model: string; reasoning?: { effort?: string }; text?: unknown; input: unknown[] };

test("overrides of a turn stick, an output schema holds for its turn only", async () => {
  const { at, client, threadId } = await opened({
    replies: [
      say('{"ok":true}'),
      call("exec_command", { cmd: "echo x > made.txt; pwd" }),
      say("Second."),
      say("Third."),
    ],
    files: { "sub/a.txt": "a" },
  });
  const outputSchema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  const first = await runTurn(client, threadId, "One.", { model: "other", effort: "high", outputSchema });
  expect(first.items).toMatchObject([{ text: '{"ok":true}' }]);
  expect(bodyOf(at.requests()[0])).toMatchObject({ model: "other", reasoning: { effort: "high" } });
  expect(JSON.stringify(bodyOf(at.requests()[0]).text)).toContain("json_schema");
  const second = await runTurn(client, threadId, "Two.", {
    cwd: join(at.repository, "sub"),
    sandboxPolicy: { type: "workspaceWrite" },
  });
  expect(completedItems(client, second.id, "commandExecution")).toMatchObject([
    { status: "completed", cwd: join(at.repository, "sub"), aggregatedOutput: `${join(at.repository, "sub")}\n` },
  ]);
  await runTurn(client, threadId, "Three.");
  const last = bodyOf(at.requests().at(-1));
  expect(last).toMatchObject({ model: "other", reasoning: { effort: "high" } });
  expect(JSON.stringify(last.text ?? {})).not.toContain("json_schema");
  const { thread, sandbox } = await client.request("thread/resume", { threadId });
  expect({ cwd: thread.cwd, sandbox: sandbox.type }).toEqual({
    cwd: join(at.repository, "sub"),
    sandbox: "workspaceWrite",
  });
});

test("an override that cannot be had is refused, and the thread stays as it was", async () => {
  const { at, client, threadId } = await opened({ replies: [say("Still here.")] });
  await expect(client.request("turn/start", { threadId, input: text("x"), cwd: "/nowhere/at/all" })).rejects.toThrow(
    /\/nowhere\/at\/all does not exist/,
  );
  await expect(
    client.request("turn/start", { threadId, input: text("x"), outputSchema: { type: "no" } }),
  ).rejects.toThrow(/not a valid JSON Schema/);
  await expect(
    client.request("turn/start", { threadId, input: text("x"), approvalPolicy: "untrusted" }),
  ).rejects.toThrow(/"untrusted" is not supported/);
  expect((await runTurn(client, threadId, "Hello?")).items).toMatchObject([{ text: "Still here." }]);
  expect(at.requests()).toHaveLength(1);
});

test("what is said to a running turn is heard between its requests", async () => {
  const { at, client, threadId } = await opened({
    replies: [call("exec_command", { cmd: "echo up; sleep 0.5" }), say("Heard both.")],
  });
  const { id } = await startTurn(client, threadId, "Begin.");
  await client.told("item/commandExecution/outputDelta");
  await expect(client.request("turn/steer", { threadId, expectedTurnId: "other", input: text("x") })).rejects.toThrow(
    /expected active turn id other/,
  );
  await expect(client.request("turn/start", { threadId, input: text("x") })).rejects.toThrow(/is in progress/);
  const steer = { threadId, expectedTurnId: id, input: text("And this."), clientUserMessageId: "mine" };
  expect(await client.request("turn/steer", steer)).toEqual({ turnId: id });
  await turnEnd(client, id);
  expect(completedItems(client, id, "userMessage").at(-1)).toMatchObject({
    clientId: "mine",
    content: [{ text: "And this." }],
  });
  expect(JSON.stringify(at.requests()[1]?.body)).toContain("And this.");
});

test("there is nothing to steer or interrupt between turns", async () => {
  const { client, threadId } = await opened({ replies: [say("Done.")] });
  const { id } = await runTurn(client, threadId, "Begin.");
  const steer = { threadId, expectedTurnId: id, input: text("x") };
  await expect(client.request("turn/steer", steer)).rejects.toThrow("no active turn to steer");
  await expect(client.request("turn/interrupt", { threadId, turnId: id })).rejects.toThrow(
    "no active turn to interrupt",
  );
});

const findings = JSON.stringify({
  findings: [],
  overall_correctness: "patch is correct",
  overall_explanation: "Nothing wrong.",
  overall_confidence_score: 0.9,
});

test("a review is shown as text, inline or in a thread of its own, and changes nothing", async () => {
  const { at, client, threadId } = await opened(
    { replies: [say(findings), say(findings)] },
    { sandbox: "workspace-write" },
  );
  writeFileSync(join(at.repository, "README.md"), "# Changed\n");
  const target = { type: "uncommittedChanges" };
  const inline = await client.request("review/start", { threadId, target });
  expect(inline.reviewThreadId).toBe(threadId);
  const end = await turnEnd(client, inline.turn.id);
  expect(end.items[0].text).toContain("Nothing wrong.");
  expect(completedItems(client, inline.turn.id, "exitedReviewMode")[0].review).toContain("Nothing wrong.");
  expect(JSON.stringify(client.heard)).not.toContain("overall_correctness");
  const detached = await client.request("review/start", { threadId, target, delivery: "detached" });
  expect(detached.reviewThreadId).not.toBe(threadId);
  await turnEnd(client, detached.turn.id);
  expect(story(client.heard, detached.reviewThreadId).slice(0, 2)).toEqual([
    "thread/started",
    "thread/status/changed(active)",
  ]);
  const { sandbox } = await client.request("thread/resume", { threadId });
  expect(sandbox.type).toBe("workspaceWrite");
});

test("a review of nothing ends without the model", async () => {
  const { at, client, threadId } = await opened({ replies: [] });
  const { turn } = await client.request("review/start", { threadId, target: { type: "uncommittedChanges" } });
  expect((await turnEnd(client, turn.id)).items[0].text).toMatch(/^Nothing to review/);
  expect(at.requests()).toHaveLength(0);
});

test("a summary takes the place of the history when a client wants it", async () => {
  const { at, client, threadId } = await opened({
    replies: [say("A long story."), say("Summed up."), say("Going on.")],
  });
  await expect(client.request("thread/compact/start", { threadId })).rejects.toThrow(/nothing to summarise/);
  await runTurn(client, threadId, "Tell me.");
  await client.request("thread/compact/start", { threadId });
  await client.told("thread/compacted");
  await client.until(
    ({ method, params }) =>
      method === "turn/completed" &&
      client.heard.some(({ method: other }) => other === "thread/compacted") &&
      params.turn.items.length === 0,
  );
  await runTurn(client, threadId, "Go on.");
  const last = JSON.stringify(at.requests().at(-1)?.body);
  expect(last).toContain("Summed up.");
  expect(last).not.toContain("A long story.");
  expect(messagesOf(client, "item/completed").map(({ item }) => item.type)).toContain("contextCompaction");
});

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("pictures and skills reach the model, and come back as they were given", async () => {
  const skill = "---\nname: greet\ndescription: Greets.\n---\nSay good morning.\n";
  const { at, client, threadId } = await opened({
    replies: [say("Good morning.")],
    files: { ".agents/skills/greet/SKILL.md": skill },
  });
  const path = join(at.repository, "pixel.png");
  writeFileSync(path, Buffer.from(pixel, "base64"));
  const input = [
    { type: "text", text: "Greet these." },
    { type: "localImage", path },
    { type: "image", url: "https://example.com/a.png" },
    { type: "skill", name: "greet", path: join(at.repository, ".agents/skills/greet/SKILL.md") },
  ];
  const { turn } = await client.request("turn/start", { threadId, input });
  await turnEnd(client, turn.id);
  const body = JSON.stringify(at.requests()[0]?.body);
  expect(["Say good morning.", pixel, "https://example.com/a.png"].filter((part) => body.includes(part))).toHaveLength(
    3,
  );
  expect(completedItems(client, turn.id, "userMessage")[0].content).toMatchObject([
    { type: "text", text: "Greet these." },
    { type: "localImage", path },
    { type: "image", url: "https://example.com/a.png" },
    { type: "text" },
  ]);
  await expect(
    client.request("turn/start", { threadId, input: [{ type: "localImage", path: "/nowhere.png" }] }),
  ).rejects.toThrow(/nowhere\.png/);
});

test("instructions and configuration of a client hold for its thread", async () => {
  const { at, client, started, threadId } = await opened(
    { replies: [say("Done.")] },
    {
      baseInstructions: "Be a parrot.",
      developerInstructions: "Be kind.",
      config: { model_verbosity: "low" },
      ephemeral: true,
    },
  );
  expect(started.thread).toMatchObject({ ephemeral: true, path: null });
  await runTurn(client, threadId, "Hello.");
  const body = JSON.stringify(at.requests()[0]?.body);
  expect(["Be a parrot.", "Be kind.", '"verbosity":"low"'].filter((part) => body.includes(part))).toHaveLength(3);
  expect((await client.request("thread/list", {})).data).toEqual([]);
});

test("a plan is told as it changes", async () => {
  const plan = [
    { step: "Look", status: "completed" },
    { step: "Act", status: "in_progress" },
  ];
  const { at, client, threadId } = await opened({
    replies: [call("update_plan", { explanation: "Why", plan }), say("Done.")],
  });
  await runTurn(client, threadId, "Plan.");
  expect(messagesOf(client, "turn/plan/updated")).toMatchObject([
    {
      explanation: "Why",
      plan: [
        { step: "Look", status: "completed" },
        { step: "Act", status: "inProgress" },
      ],
    },
  ]);
  expect(toolOutputs(at.requests()[1])).toEqual(["Plan updated"]);
});

test("a failure of the model is an error, a retry is told as one that will be repeated", async () => {
  const { client, threadId } = await opened({
    replies: [{ status: 500 }, say("Recovered."), { status: 401 }],
  });
  expect((await runTurn(client, threadId, "Try.")).status).toBe("completed");
  expect(messagesOf(client, "error")).toMatchObject([{ willRetry: true }]);
  const failed = await runTurn(client, threadId, "Again.");
  expect(failed).toMatchObject({
    status: "failed",
    error: { errorInfo: "unauthorized", codexErrorInfo: "unauthorized" },
  });
  expect(messagesOf(client, "error").at(-1)).toMatchObject({ willRetry: false });
});
