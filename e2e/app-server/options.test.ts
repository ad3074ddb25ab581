// Options of a turn: overrides, output schemas, steering, reviews, compaction, images and skills.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, stall } from "@agentcli/testkit";
import { type HarnessOptions, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { startServer, summarize } from "./client.ts";
import { completedItems, messagesOf, runTurn, startTurn, text, turnEnd } from "./turns.ts";

async function opened(options: HarnessOptions, params: object = {}) {
  const harness = await openHarness(options);
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const started = await client.request("thread/start", params);
  return { harness, server, client, started, threadId: started.thread.id as string };
}

const bodyOf = (request: { body: unknown } | undefined) =>
  request?.body as { model: string; reasoning?: { effort?: string }; text?: unknown; input: unknown[] };

test("overrides of a turn persist, an output schema applies to its turn only", async () => {
  const { harness, client, threadId } = await opened({
    replies: [
      replyWith('{"ok":true}'),
      call("exec_command", { cmd: "echo x > made.txt; pwd" }),
      replyWith("Second."),
      replyWith("Third."),
    ],
    files: { "sub/a.txt": "a" },
  });
  const outputSchema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  const first = await runTurn(client, threadId, "One.", {
    model: "other",
    effort: "high",
    serviceTier: "flex",
    outputSchema,
  });
  expect(first.items).toMatchObject([{ text: '{"ok":true}' }]);
  expect(bodyOf(harness.requests()[0])).toMatchObject({
    model: "other",
    service_tier: "flex",
    reasoning: { effort: "high" },
  });
  expect(JSON.stringify(bodyOf(harness.requests()[0]).text)).toContain("json_schema");
  const second = await runTurn(client, threadId, "Two.", {
    cwd: join(harness.repository, "sub"),
    sandboxPolicy: { type: "workspaceWrite" },
  });
  expect(completedItems(client, second.id, "commandExecution")).toMatchObject([
    {
      status: "completed",
      cwd: join(harness.repository, "sub"),
      aggregatedOutput: `${join(harness.repository, "sub")}\n`,
    },
  ]);
  await runTurn(client, threadId, "Three.");
  const last = bodyOf(harness.requests().at(-1));
  expect(last).toMatchObject({ model: "other", reasoning: { effort: "high" } });
  expect(JSON.stringify(last.text ?? {})).not.toContain("json_schema");
  const { thread, sandbox } = await client.request("thread/resume", { threadId });
  expect({ cwd: thread.cwd, sandbox: sandbox.type }).toEqual({
    cwd: join(harness.repository, "sub"),
    sandbox: "workspaceWrite",
  });
});

test("an invalid override is refused, and the thread is unchanged", async () => {
  const { harness, client, threadId } = await opened({ replies: [replyWith("Still here.")] });
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
  expect(harness.requests()).toHaveLength(1);
});

test("a steering message reaches the model between requests of a running turn", async () => {
  const { harness, client, threadId } = await opened({
    replies: [call("exec_command", { cmd: "echo up; sleep 0.5" }), replyWith("Heard both.")],
  });
  const { id } = await startTurn(client, threadId, "Begin.");
  await client.notification("item/commandExecution/outputDelta");
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
  expect(JSON.stringify(harness.requests()[1]?.body)).toContain("And this.");
});

test("an interruption is answered before the turn ends, and the next turn can start at once", async () => {
  const replies = [stall("after-headers"), replyWith("After it.")];
  const { harness, server, client, threadId } = await opened({ replies });
  let sent = "";
  server.child.stdout?.on("data", (piece: Buffer) => {
    sent += piece.toString();
  });
  const { id } = await startTurn(client, threadId, "Hello?");
  await expect.poll(() => harness.requests().length).toBe(1);
  expect(await client.request("turn/interrupt", { threadId, turnId: id })).toEqual({});
  expect((await turnEnd(client, id)).status).toBe("interrupted");
  expect(sent.indexOf('"result":{}')).toBeGreaterThan(-1);
  expect(sent.indexOf('"result":{}')).toBeLessThan(sent.indexOf('"turn/completed"'));
  expect(await runTurn(client, threadId, "Go on.")).toMatchObject({ items: [{ text: "After it." }] });
});

test("messages keep their phase, and commentary alone is a completed turn without an answer", async () => {
  const commentary = { text: "Looking around.", phase: "commentary" as const };
  const answer = { text: "Here it is.", phase: "final_answer" as const };
  const { client, threadId } = await opened({
    replies: [{ messages: [commentary, answer] }, { messages: [commentary] }, { messages: [""] }],
  });
  const first = await runTurn(client, threadId, "One.");
  expect(completedItems(client, first.id, "agentMessage")).toMatchObject([commentary, answer]);
  expect(first.items).toMatchObject([answer]);
  const second = await runTurn(client, threadId, "Two.");
  expect(second).toMatchObject({ status: "completed", error: null, items: [] });
  expect(completedItems(client, second.id, "agentMessage")).toMatchObject([commentary]);
  const third = await runTurn(client, threadId, "Three.");
  expect(third).toMatchObject({ status: "completed", items: [{ text: "" }] });
});

test("there is nothing to steer or interrupt between turns", async () => {
  const { client, threadId } = await opened({ replies: [replyWith("Done.")] });
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

test("a review is shown as text, inline or in a separate thread, and changes nothing", async () => {
  const { harness, client, threadId } = await opened(
    { replies: [replyWith(findings), replyWith(findings)] },
    { sandbox: "workspace-write" },
  );
  writeFileSync(join(harness.repository, "README.md"), "# Changed\n");
  const target = { type: "uncommittedChanges" };
  const inline = await client.request("review/start", { threadId, target });
  expect(inline.reviewThreadId).toBe(threadId);
  const end = await turnEnd(client, inline.turn.id);
  expect(end.items[0].text).toContain("Nothing wrong.");
  expect(completedItems(client, inline.turn.id, "exitedReviewMode")[0].review).toContain("Nothing wrong.");
  expect(JSON.stringify(client.received)).not.toContain("overall_correctness");
  const detached = await client.request("review/start", { threadId, target, delivery: "detached" });
  expect(detached.reviewThreadId).not.toBe(threadId);
  await turnEnd(client, detached.turn.id);
  expect(summarize(client.received, detached.reviewThreadId).slice(0, 2)).toEqual([
    "thread/started",
    "thread/status/changed(active)",
  ]);
  const { sandbox } = await client.request("thread/resume", { threadId });
  expect(sandbox.type).toBe("workspaceWrite");
});

test("a review of nothing ends without the model", async () => {
  const { harness, client, threadId } = await opened({ replies: [] });
  const { turn } = await client.request("review/start", { threadId, target: { type: "uncommittedChanges" } });
  expect((await turnEnd(client, turn.id)).items[0].text).toMatch(/^Nothing to review/);
  expect(harness.requests()).toHaveLength(0);
});

test("a summary replaces the history when a client requests it", async () => {
  const { harness, client, threadId } = await opened({
    replies: [replyWith("A long story."), replyWith("Summed up."), replyWith("Going on.")],
  });
  await expect(client.request("thread/compact/start", { threadId })).rejects.toThrow(/nothing to summarise/);
  await runTurn(client, threadId, "Tell me.");
  await client.request("thread/compact/start", { threadId });
  await client.notification("thread/compacted");
  await client.waitFor(
    ({ method, params }) =>
      method === "turn/completed" &&
      client.received.some(({ method: other }) => other === "thread/compacted") &&
      params.turn.items.length === 0,
  );
  await runTurn(client, threadId, "Go on.");
  const last = JSON.stringify(harness.requests().at(-1)?.body);
  expect(last).toContain("Summed up.");
  expect(last).not.toContain("A long story.");
  expect(messagesOf(client, "item/completed").map(({ item }) => item.type)).toContain("contextCompaction");
});

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("images and skills reach the model, and are returned as they were sent", async () => {
  const skill = "---\nname: greet\ndescription: Greets.\n---\nSay good morning.\n";
  const { harness, client, threadId } = await opened({
    replies: [replyWith("Good morning.")],
    files: { ".agents/skills/greet/SKILL.md": skill },
  });
  const path = join(harness.repository, "pixel.png");
  writeFileSync(path, Buffer.from(pixel, "base64"));
  const input = [
    { type: "text", text: "Greet these." },
    { type: "localImage", path },
    { type: "image", url: "https://example.com/a.png" },
    { type: "skill", name: "greet", path: join(harness.repository, ".agents/skills/greet/SKILL.md") },
  ];
  const { turn } = await client.request("turn/start", { threadId, input });
  await turnEnd(client, turn.id);
  const body = JSON.stringify(harness.requests()[0]?.body);
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

test("instructions and configuration of a client apply to its thread", async () => {
  const { harness, client, started, threadId } = await opened(
    { replies: [replyWith("Done.")] },
    {
      baseInstructions: "Be a parrot.",
      developerInstructions: "Be kind.",
      config: { model_verbosity: "low" },
      ephemeral: true,
    },
  );
  expect(started.thread).toMatchObject({ ephemeral: true, path: null });
  await runTurn(client, threadId, "Hello.");
  const body = JSON.stringify(harness.requests()[0]?.body);
  expect(["Be a parrot.", "Be kind.", '"verbosity":"low"'].filter((part) => body.includes(part))).toHaveLength(3);
  expect((await client.request("thread/list", {})).data).toEqual([]);
});

test("a plan is reported as it changes", async () => {
  const plan = [
    { step: "Look", status: "completed" },
    { step: "Act", status: "in_progress" },
  ];
  const { harness, client, threadId } = await opened({
    replies: [call("update_plan", { explanation: "Why", plan }), replyWith("Done.")],
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
  expect(toolOutputs(harness.requests()[1])).toEqual(["Plan updated"]);
});

test("a failure of the model is an error, a retry is reported with willRetry", async () => {
  const { client, threadId } = await opened({
    replies: [{ status: 500 }, replyWith("Recovered."), { status: 401 }],
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
