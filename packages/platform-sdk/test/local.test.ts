// Agents on this machine: what they do, what is kept of it, and what their users see.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { agentCalls } from "../src/agents.ts";
import { AgentBusyError, AgentNotFoundError, AuthenticationError, ConfigurationError } from "../src/errors.ts";
import type { AgentOptions } from "../src/options.ts";
import { bodiesOf, key, model, openLocalHarness, readAll, runtimeWith } from "./local-harness.ts";
import { summary } from "./scenario-runner.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

test("a prompt runs in the caller's directory, and its messages are those of a cloud run", async () => {
  const harness = await openLocalHarness([shell("echo hello > made.txt && cat made.txt"), replyWith("Made it.")]);
  const agent = await harness.Agent.create(harness.options());
  expect(agent.agentId).toMatch(/^agent-[0-9a-f-]{36}$/);
  const run = await agent.send("Make a file");
  expect(run.status).toBe("running");
  const messages = await readAll(run);
  expect(summary(messages)).toMatchObject({
    user: "Make a file",
    text: "Made it.",
    tools: ["run_terminal_cmd running", "run_terminal_cmd completed"],
    lastStatus: "FINISHED",
  });
  expect(await run.wait()).toMatchObject({ status: "finished", result: "Made it.", model });
  expect(readFileSync(join(harness.repository.path, "made.txt"), "utf8")).toBe("hello\n");
  expect(await readAll(run)).toEqual(messages);
  expect(harness.requests()[0]?.headers.authorization).toBe(`Bearer ${key}`);
});

test("a follow-up in another process goes on with the conversation, and everything can be looked up", async () => {
  const harness = await openLocalHarness([replyWith("One."), replyWith("Two.")]);
  const first = await harness.Agent.create(harness.options({ name: "Counter" }));
  const one = await (await first.send("Count")).wait();
  await first[Symbol.asyncDispose]();
  // Nothing is shared with the first but what is on disk.
  const Other = agentCalls(runtimeWith(harness.variables));
  const again = await Other.resume(first.agentId, { local: { cwd: harness.repository.path } });
  const run = await again.send("Go on");
  const two = await run.wait();
  expect(two).toMatchObject({ status: "finished", result: "Two.", model, usage: { totalTokens: expect.any(Number) } });
  expect(bodiesOf(harness).at(-1)).toMatch(/Count.*One\..*Go on/);
  const { agentId } = first;
  expect(await Other.get(agentId)).toMatchObject({ name: "Counter", runtime: "local", status: "finished" });
  const listed = await Other.list({ runtime: "local", cwd: harness.repository.path });
  expect(listed.items.map((agent) => agent.agentId)).toEqual([agentId]);
  expect((await Other.list({ runtime: "local", cwd: harness.home })).items).toEqual([]);
  const runs = await Other.listRuns(agentId);
  expect(runs.items.map(({ id, result }) => [id, result])).toEqual([
    [run.id, "Two."],
    [one.id, "One."],
  ]);
  const page = await Other.listRuns(agentId, { limit: 1 });
  const rest = await Other.listRuns(agentId, { cursor: page.nextCursor ?? "" });
  expect(rest.items.map(({ id }) => id)).toEqual([one.id]);
  expect(runs.items[0]?.usage).toEqual(two.usage);
  expect((await Other.getRun(one.id)).agentId).toBe(agentId);
  await expect(Other.getRun(one.id, { runtime: "cloud" })).rejects.toMatchObject({ code: "invalid_id" });
  const read = await Other.getRun(one.id, { agentId });
  expect(summary(await readAll(read))).toMatchObject({ user: "Count", text: "One.", lastStatus: "FINISHED" });
  expect((await read.conversation())[0]?.turn.userMessage).toEqual({ text: "Count" });
  const messages = await Other.messages.list(agentId);
  expect(messages.map(({ type, message }) => `${type} ${message.content[0]?.text}`)).toEqual([
    "user Count",
    "assistant One.",
    "user Go on",
    "assistant Two.",
  ]);
  expect(await Other.messages.list(agentId, { offset: 1, limit: 2 })).toEqual(messages.slice(1, 3));
  expect(new Set(messages.map(({ uuid }) => uuid)).size).toBe(4);
  const usage = await Other.getUsage(agentId);
  expect(usage.runs.map(({ id }) => id)).toEqual([run.id, one.id]);
  expect(usage.totalUsage.totalTokens).toBe(usage.runs.reduce((sum, each) => sum + each.usage.totalTokens, 0));
  expect((await Other.getUsage(agentId, { runId: one.id })).runs).toHaveLength(1);
});

test("one run at a time: a second prompt is busy, force ends the first", async () => {
  const harness = await openLocalHarness([stall("before-headers"), replyWith("Second.")]);
  const agent = await harness.Agent.create(harness.options());
  const first = await agent.send("Wait for ever");
  await expect.poll(() => harness.requests().length).toBe(1);
  await expect(agent.send("And now?")).rejects.toThrow(AgentBusyError);
  const other = await harness.Agent.resume(agent.agentId, harness.options());
  await expect(other.send("And now?")).rejects.toMatchObject({ code: "agent_busy", isRetryable: false });
  const second = await other.send("Now!", { local: { force: true } });
  expect((await first.wait()).status).toBe("cancelled");
  expect(await second.wait()).toMatchObject({ status: "finished", result: "Second." });
});

test("cancelling ends a command in its middle, and the agent takes the next prompt", async () => {
  const harness = await openLocalHarness([shell("echo $$ > pid; exec sleep 1000"), replyWith("Rested.")]);
  const agent = await harness.Agent.create(harness.options());
  const run = await agent.send("Sleep");
  const statuses: string[] = [];
  run.onDidChangeStatus((status) => statuses.push(status));
  const file = join(harness.repository.path, "pid");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d/);
  await run.cancel();
  expect((await run.wait()).status).toBe("cancelled");
  expect(statuses).toEqual(["cancelled"]);
  expect(existsSync(`/proc/${readFileSync(file, "utf8").trim()}`)).toBe(false);
  expect(await (await agent.send("Go on")).wait()).toMatchObject({ status: "finished", result: "Rested." });
});

test("closing a handle leaves no process", async () => {
  const harness = await openLocalHarness([shell("echo $$ > pid; exec sleep 1000")]);
  const agent = await harness.Agent.create(harness.options());
  const run = await agent.send("Sleep");
  const file = join(harness.repository.path, "pid");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d/);
  await agent[Symbol.asyncDispose]();
  expect(existsSync(`/proc/${readFileSync(file, "utf8").trim()}`)).toBe(false);
  await expect(run.wait()).rejects.toMatchObject({ code: "closed" });
  await expect(agent.send("Again")).rejects.toMatchObject({ code: "closed" });
  const left = await harness.Agent.getRun(run.id, { agentId: agent.agentId });
  expect(left.status).toBe("cancelled");
  expect(execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" })).not.toContain(harness.repository.path);
});

test("what is kept is for its owner, and has no key in it", async () => {
  const harness = await openLocalHarness([shell(`echo ${key}; printenv PLATFORM_API_KEY`), replyWith(`It is ${key}.`)]);
  const agent = await harness.Agent.create(harness.options());
  const result = await (await agent.send("Show the key")).wait();
  expect(result.result).toBe("It is [REDACTED].");
  const entries = readdirSync(harness.sdkHome, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    expect(statSync(file).mode & 0o077, file).toBe(0);
    expect(readFileSync(file, "utf8"), file).not.toContain(key);
  }
  for (const entry of entries.filter((each) => each.isDirectory()))
    expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077, entry.name).toBe(0);
  expect(files.filter((file) => file.endsWith("lock"))).toEqual([]);
});

test("an archived agent takes no prompts until it is unarchived, a deleted one is gone", async () => {
  const harness = await openLocalHarness({ replies: [replyWith("Yes.")], repeat: "last" });
  const agent = await harness.Agent.create(harness.options());
  await (await agent.send("Hello")).wait();
  await harness.Agent.archive(agent.agentId);
  await harness.Agent.archive(agent.agentId);
  expect(await harness.Agent.get(agent.agentId)).toMatchObject({ archived: true });
  await expect(agent.send("Still there?")).rejects.toMatchObject({ code: "agent_archived" });
  const open = { runtime: "local", cwd: harness.repository.path, includeArchived: false } as const;
  expect((await harness.Agent.list(open)).items).toEqual([]);
  await harness.Agent.unarchive(agent.agentId);
  expect((await (await agent.send("Now?")).wait()).status).toBe("finished");
  await harness.Agent.delete(agent.agentId);
  await expect(harness.Agent.get(agent.agentId)).rejects.toThrow(AgentNotFoundError);
  await expect(agent.send("And now?")).rejects.toThrow(AgentNotFoundError);
});

test("an agent that is resumed in another directory gets a message with it", async () => {
  const harness = await openLocalHarness([
    replyWith("Here."),
    call("exec_command", { cmd: "pwd" }),
    replyWith("There."),
  ]);
  const agent = await harness.Agent.create(harness.options());
  await (await agent.send("Where?")).wait();
  const moved = await harness.Agent.resume(agent.agentId, { local: { cwd: harness.home } });
  await (await moved.send("And now?")).wait();
  expect(bodiesOf(harness).at(-1)).toContain(`<cwd>${harness.home}</cwd>`);
  expect(bodiesOf(harness).at(-1)).toMatch(new RegExp(`Output:[^"]*${harness.home}`));
  expect(await harness.Agent.get(agent.agentId)).toMatchObject({ cwd: harness.home });
});

test("the same idempotency key gives the same run", async () => {
  const harness = await openLocalHarness([replyWith("Once.")]);
  const agent = await harness.Agent.create(harness.options());
  const first = await agent.send("Do it", { idempotencyKey: "k" });
  const second = await agent.send("Do it", { idempotencyKey: "k" });
  expect(second.id).toBe(first.id);
  expect(await second.wait()).toMatchObject({ status: "finished", result: "Once." });
  expect(harness.requests()).toHaveLength(1);
});

test("what cannot be is refused with words, before anything is asked", async () => {
  const harness = await openLocalHarness([]);
  const refused = async (options: AgentOptions) =>
    (await harness.Agent.create(options).catch((error) => error)) as Error;
  const { local } = harness.options();
  expect(await refused({ ...(local && { local }) })).toMatchObject({ code: "model_required" });
  expect(await refused(harness.options({ model: { id: "unheard-of" } }))).toMatchObject({ code: "invalid_model" });
  expect(await refused(harness.options({ cloud: {} }))).toBeInstanceOf(ConfigurationError);
  expect((await refused({ model, tools: ["read"] })).message).toContain("tools is for local agents");
  const messages: [Partial<AgentOptions>, string][] = [
    [{ tools: ["fly"] }, 'Unknown tool "fly"'],
    [{ disallowedTools: ["swim"] }, 'Unknown tool "swim"'],
    [{ local: { cwd: "/nowhere/at/all" } }, "local.cwd: /nowhere/at/all is not a directory"],
    [{ local: { autoReview: true } }, "autoReview is not supported"],
    [{ local: { cwd: ["a", "b"] as unknown as string } }, "local.cwd is one directory"],
    [{ systemPrompt: " " }, "systemPrompt is empty"],
    [{ local: { settingSources: ["moon" as "user"] } }, 'unknown source "moon"'],
    [{ agentId: "../escape" }, "is not a valid id"],
  ];
  for (const [more, message] of messages) expect((await refused(harness.options(more))).message).toContain(message);
  await expect(harness.Agent.resume("../../etc")).rejects.toMatchObject({ code: "invalid_id" });
  await expect(harness.Agent.get("agent-unheard-of")).rejects.toThrow(AgentNotFoundError);
  await expect(harness.Agent.resume("agent-unheard-of", harness.options())).rejects.toThrow(AgentNotFoundError);
  expect(existsSync(join(harness.sdkHome, "agents", "agent-unheard-of", "agent.json"))).toBe(false);
  expect(await refused(harness.options({ apiKey: "" }))).toBeInstanceOf(AuthenticationError);
  expect(harness.requests()).toEqual([]);
});

test("a key that the platform refuses ends the run as an error, and without retries a fault is final", async () => {
  const harness = await openLocalHarness([{ status: 503 }, replyWith("Late.")]);
  const wrong = await harness.Agent.create(harness.options({ apiKey: "plt_wrong_key" }));
  expect(await (await wrong.send("Hello")).wait()).toMatchObject({ status: "error", error: { code: "auth" } });
  const once = await harness.Agent.create(harness.options({ local: { enableAgentRetries: false } }));
  expect(await (await once.send("Hello")).wait()).toMatchObject({ status: "error", error: { code: "overloaded" } });
});

test("a provider of one's own is asked in place of the platform", async () => {
  const harness = await openLocalHarness([replyWith("From elsewhere.")]);
  const direct = agentCalls(runtimeWith({ ...harness.variables, PLATFORM_API_KEY: "", MY_KEY: key }));
  const provider = { baseUrl: `${harness.backendUrl}/v1/inference`, apiKeyEnv: "MY_KEY" };
  const options = harness.options({ model: { id: "anything" }, local: { provider } });
  expect(await direct.prompt("Hello", options)).toMatchObject({ status: "finished", result: "From elsewhere." });
  const missing = harness.options({ local: { provider: { ...provider, apiKeyEnv: "MISSING_KEY" } } });
  await expect(direct.prompt("Hello", missing)).rejects.toThrow("MISSING_KEY is not set");
});

test("model and mode of a prompt hold for later ones; onStep and onDelta are called", async () => {
  const harness = await openLocalHarness([replyWith("One."), replyWith("Two.")]);
  const agent = await harness.Agent.create(harness.options());
  const steps: string[] = [];
  const updates: string[] = [];
  const first = await agent.send("Count", {
    model: { id: "scripted", params: [{ id: "reasoning_effort", value: "high" }] },
    onStep: ({ step }) => steps.push(step.type),
    onDelta: ({ update }) => updates.push(update.type),
  });
  await first.wait();
  expect(steps).toEqual(["assistantMessage"]);
  expect(updates).toContain("turn-ended");
  await (await agent.send("Go on")).wait();
  const efforts = harness.requests().map(({ body }) => (body as { reasoning?: { effort?: string } }).reasoning?.effort);
  expect(efforts).toEqual(["high", "high"]);
});

test("the system prompt and the choice of tools reach the model", async () => {
  const harness = await openLocalHarness([replyWith("Fine.")]);
  await harness.Agent.prompt(
    "Hello",
    harness.options({
      systemPrompt: "Speak like a pirate.",
      tools: ["read", "grep", "glob", "shell", "edit"],
      disallowedTools: ["write", "shell"],
    }),
  );
  const [body] = harness
    .requests()
    .map((request) => request.body as { instructions: string; tools: { name: string }[] });
  expect(body?.instructions).toBe("Speak like a pirate.");
  expect(body?.tools.map(({ name }) => name).sort()).toEqual(["glob", "grep_files", "read_file", "view_image"]);
});
