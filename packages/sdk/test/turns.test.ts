import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, fault, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { Client } from "../src/client.ts";
import type { ThreadEvent } from "../src/thread.ts";
import { errorOf, openSdkHarness } from "./harness.ts";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const verdict = {
  type: "object",
  properties: { verdict: { type: "string" }, note: { type: "string" } },
  required: ["verdict"],
  additionalProperties: false,
};

const schemaDirectories = () => readdirSync(tmpdir()).filter((name) => name.startsWith("agentcli-output-schema-"));

async function collect(events: AsyncIterable<ThreadEvent>): Promise<ThreadEvent[]> {
  const all: ThreadEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test("a run returns the items, the final response and the usage", async () => {
  const usage = { inputTokens: 7, outputTokens: 3 };
  const { thread } = await openSdkHarness({
    replies: [call("exec_command", { cmd: "echo hi" }), replyWith("Done.", { usage })],
  });
  expect(thread.id).toBeNull();
  const turn = await thread.run("say hi");
  expect(turn.finalResponse).toBe("Done.");
  expect(turn.items).toMatchObject([
    { type: "command_execution", aggregated_output: "hi\n", exit_code: 0 },
    { type: "agent_message", text: "Done." },
  ]);
  expect(turn.usage).toMatchObject({ output_tokens: expect.any(Number) });
  expect(turn.usage?.output_tokens).toBeGreaterThanOrEqual(3);
  expect(thread.id).toMatch(/^[0-9a-f-]{36}$/);
});

test("commentary after the answer is not the final response", async () => {
  const messages = [
    { text: "Here it is.", phase: "final_answer" as const },
    { text: "Cleaning up.", phase: "commentary" as const },
  ];
  const { thread } = await openSdkHarness({ replies: [{ messages }] });
  const turn = await thread.run("answer");
  expect(turn.finalResponse).toBe("Here it is.");
  expect(turn.items).toMatchObject(messages);
});

test("a streamed run yields every event, the terminal one last", async () => {
  const { thread } = await openSdkHarness({ replies: [call("exec_command", { cmd: "echo hi" }), replyWith("Done.")] });
  const { events } = await thread.runStreamed("say hi");
  const types = (await collect(events)).map((event) => event.type);
  expect(types).toEqual([
    "thread.started",
    "turn.started",
    "item.started",
    "item.completed",
    "item.completed",
    "turn.completed",
  ]);
});

test("the next run of a thread and a resumed thread share the context", async () => {
  const { thread, client, repository, requests } = await openSdkHarness({
    replies: [replyWith("First."), replyWith("Second."), replyWith("Third.")],
  });
  await thread.run("one");
  await thread.run("two");
  const resumed = client.resumeThread(thread.id ?? "", { workingDirectory: repository });
  expect((await resumed.run("three")).finalResponse).toBe("Third.");
  expect(resumed.id).toBe(thread.id);
  const sent = JSON.stringify(requests().at(-1)?.body);
  for (const text of ["one", "First.", "two", "Second.", "three"]) expect(sent).toContain(text);
});

test("texts are joined and images are sent", async () => {
  const { thread, repository, requests } = await openSdkHarness({ replies: [replyWith("A dot.")] });
  const path = join(repository, "dot, red.png");
  writeFileSync(path, Buffer.from(pixel, "base64"));
  await thread.run([
    { type: "text", text: "What is it?" },
    { type: "local_image", path },
    { type: "text", text: "One word." },
  ]);
  const sent = JSON.stringify(requests()[0]?.body);
  expect(sent).toContain(`data:image/png;base64,${pixel}`);
  expect(sent).toContain("What is it?\\n\\nOne word.");
});

test("with a schema the final response satisfies it, and its files are removed", async () => {
  const answer = '{"verdict":"pass","note":null}';
  const { thread, requests } = await openSdkHarness({ replies: [replyWith(answer), replyWith(answer)] });
  const before = schemaDirectories();
  const { finalResponse } = await thread.run("judge", { outputSchema: verdict });
  expect(JSON.parse(finalResponse)).toEqual({ verdict: "pass" });
  expect(JSON.stringify(requests()[0]?.body)).toContain("json_schema");
  const { events } = await thread.runStreamed("judge", { outputSchema: verdict });
  await collect(events);
  expect(schemaDirectories()).toEqual(before);
});

test.each([[[]], [null], ["text"]])("an output schema that is %j is refused", async (outputSchema) => {
  const { thread } = await openSdkHarness();
  expect((await errorOf(thread.run("judge", { outputSchema }))).message).toBe(
    "outputSchema must be a plain JSON object",
  );
});

test("options of client and thread reach the program", async () => {
  const { client, repository, requests } = await openSdkHarness(
    { replies: [replyWith("Done.")] },
    { config: { tags: undefined }, configOverrides: ['model_reasoning_effort="low"'] },
  );
  const thread = client.startThread({
    workingDirectory: repository,
    model: "scripted-mini",
    sandboxMode: "workspace-write",
    modelReasoningEffort: "high",
    networkAccessEnabled: false,
    webSearchEnabled: false,
    approvalPolicy: "untrusted",
    additionalDirectories: [repository],
    skipGitRepoCheck: true,
  });
  const { events } = await thread.runStreamed("work");
  const [started] = await collect(events);
  expect(started).toMatchObject({ type: "thread.started", sandbox: { mode: "workspace-write" } });
  expect(requests()[0]?.body).toMatchObject({ model: "scripted-mini", reasoning: { effort: "high" } });
});

test("env replaces the environment of this process, and the key is added", async () => {
  process.env.SDK_TEST_OUTSIDE = "outside";
  const { client, env, repository, requests } = await openSdkHarness({
    replies: [call("exec_command", { cmd: "echo [$SDK_TEST_OUTSIDE] [$SDK_TEST_INSIDE]" }), replyWith("Done.")],
  });
  env.SDK_TEST_INSIDE = "inside";
  const { items } = await client.startThread({ workingDirectory: repository }).run("look");
  delete process.env.SDK_TEST_OUTSIDE;
  expect(items[0]).toMatchObject({ aggregated_output: "[] [inside]\n" });
  expect(requests()).toHaveLength(2);
});

test("requests to the provider carry the key and the originator", async () => {
  const secret = "key-of-the-test";
  const { thread, requests } = await openSdkHarness(
    { replies: [replyWith("Done.")] },
    { apiKey: secret, config: { model_providers: { scripted: { requires_openai_auth: true } } } },
  );
  await thread.run("work");
  expect(requests()[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, originator: "agent_sdk_ts" });
});

test("baseUrl is the URL of the default provider", async () => {
  const { env, home, repository, requests } = await openSdkHarness({ replies: [replyWith("Done.")] });
  const config = join(home, "config.toml");
  const baseUrl = /base_url = "(.*)"/.exec(readFileSync(config, "utf8"))?.[1] ?? "";
  writeFileSync(config, "");
  await new Client({ env, baseUrl, apiKey: "key" }).startThread({ workingDirectory: repository }).run("work");
  expect(requests()).toHaveLength(1);
});

test("a failed turn is an error with its message, exit code and last event", async () => {
  const { thread } = await openSdkHarness({ replies: [fault(401, { body: { error: { message: "Wrong key" } } })] });
  const error = await errorOf(thread.run("work"));
  expect(error).toMatchObject({
    name: "TurnError",
    kind: "failed",
    message: expect.stringContaining("Wrong key"),
    exitCode: 3,
    signal: null,
    lastEvent: { type: "turn.failed", error: { code: "auth" } },
  });
});

test("a failed streamed turn yields its terminal event before it throws", async () => {
  const { thread } = await openSdkHarness({ replies: [fault(403)] });
  const seen: string[] = [];
  const { events } = await thread.runStreamed("work");
  const reading = (async () => {
    for await (const event of events) seen.push(event.type);
  })();
  expect(await errorOf(reading)).toMatchObject({ kind: "failed", exitCode: 3 });
  expect(seen.at(-1)).toBe("turn.failed");
});

test("a failure before the turn starts is an error with the message of the program", async () => {
  const { client, home, repository } = await openSdkHarness();
  const unknown = client.resumeThread("00000000-0000-7000-8000-000000000000", { workingDirectory: repository });
  expect(await errorOf(unknown.run("go on"))).toMatchObject({ kind: "exited", exitCode: 2 });
  const outside = client.startThread({ workingDirectory: home });
  const error = await errorOf(outside.run("work"));
  expect(error).toMatchObject({ kind: "exited", exitCode: 2, lastEvent: { type: "error" } });
  expect(error.message).toContain("git");
  expect(existsSync(join(home, "sessions"))).toBe(false);
});

test("a second turn during one is refused, and one after it is not", async () => {
  const { thread } = await openSdkHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  const first = thread.run("one");
  expect((await errorOf(thread.run("two"))).message).toContain("already has an active turn");
  await first;
  expect((await thread.run("two")).finalResponse).toBe("Second.");
});
