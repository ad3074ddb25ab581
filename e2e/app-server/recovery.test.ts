// Crashes and stops of a server, and several programs that use the same threads.
import { call, expectNoProcesses, processesIn, replyWith, stall } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { startServer } from "./client.ts";
import { completedItems, runTurn, startTurn, text, turnEnd } from "./turns.ts";

test("a server killed in the middle of a turn leaves a thread that the next server continues", async () => {
  const cmd = "echo once >> ran.txt; echo started; sleep 986.5";
  const harness = await openHarness({
    replies: [call("exec_command", { cmd, yield_time_ms: 30000 }), replyWith("I looked again.")],
  });
  const first = await startServer(harness, "stdio");
  const client = await first.connect();
  const { thread } = await client.request("thread/start", { sandbox: "workspace-write" });
  await startTurn(client, thread.id, "Take your time.");
  await client.notification("item/commandExecution/outputDelta");
  first.child.kill("SIGKILL");
  await expectNoProcesses(harness.repository);

  const second = await startServer(harness, "stdio");
  const again = await second.connect();
  const { thread: resumed } = await again.request("thread/resume", { threadId: thread.id });
  expect(resumed.turns).toMatchObject([
    { status: "interrupted", items: [{ type: "userMessage" }, { type: "commandExecution" }] },
  ]);
  expect(resumed.status).toEqual({ type: "idle" });
  const turn = await runTurn(again, thread.id, "And now?");
  expect(turn.items).toMatchObject([{ text: "I looked again." }]);
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain("The outcome of this call is unknown");
  const ends = harness.records().filter(({ record }) => record.type === "turn.ended");
  expect(ends.map(({ record }) => (record.end as { status: string }).status)).toEqual(["cancelled", "completed"]);
});

test("the end of the input interrupts every turn, records it and leaves no process", async () => {
  const harness = await openHarness({
    replies: {
      replies: [call("exec_command", { cmd: "echo on; sleep 985.5", yield_time_ms: 30000 })],
      repeat: "always",
    },
  });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const threads = await Promise.all([1, 2, 3].map(() => client.request("thread/start", {})));
  const turns = await Promise.all(threads.map(({ thread }) => startTurn(client, thread.id, "Take your time.")));
  for (const { thread } of threads)
    await client.waitFor(
      ({ method, params }) => method === "item/commandExecution/outputDelta" && params.threadId === thread.id,
    );
  expect(processesIn(harness.repository).filter((process) => process.includes("sleep 985.5")).length).toBeGreaterThan(
    0,
  );
  expect(await server.end()).toBe(0);
  for (const { id } of turns) expect((await turnEnd(client, id)).status).toBe("interrupted");
  await expectNoProcesses(harness.repository);
});

test("a turn that waits for the model ends when the input ends", async () => {
  const harness = await openHarness({ replies: [stall("after-headers")] });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  const { id } = await startTurn(client, thread.id, "Hello?");
  await client.notification("item/completed");
  expect(await server.end()).toBe(0);
  expect((await turnEnd(client, id)).status).toBe("interrupted");
  expect(harness.records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { status: "cancelled" } });
});

test("the command line and the server continue each other's threads", async () => {
  const harness = await openHarness({ replies: [replyWith("One."), replyWith("Two."), replyWith("Three.")] });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  await runTurn(client, thread.id, "First.");
  const { code, stdout } = await harness.run(["exec", "resume", thread.id, "Second."]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Two.\n" });
  const third = await runTurn(client, thread.id, "Third.");
  expect(third.items).toMatchObject([{ text: "Three." }]);
  const { thread: read } = await client.request("thread/read", { threadId: thread.id, includeTurns: true });
  const messages = read.turns.map(({ items }: { items: { type: string; text?: string }[] }) => items.at(-1)?.text);
  expect(messages).toEqual(["One.", "Two.", "Three."]);
  const body = JSON.stringify(harness.requests().at(-1)?.body);
  expect(["First.", "Second.", "Third."].filter((words) => body.includes(words))).toHaveLength(3);
});

test("a thread of the command line is listed, resumed and continued", async () => {
  const harness = await openHarness({ replies: [replyWith("From exec."), replyWith("From the server.")] });
  await harness.run(["exec", "Begin."]);
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  const { data } = await client.request("thread/list", {});
  expect(data).toMatchObject([{ preview: "Begin.", status: { type: "notLoaded" }, cwd: harness.repository }]);
  const { thread } = await client.request("thread/resume", { threadId: data[0].id });
  expect(thread.turns[0].items.at(-1)).toMatchObject({ type: "agentMessage", text: "From exec." });
  const turn = await runTurn(client, thread.id, "Go on.");
  expect(turn.items).toMatchObject([{ text: "From the server." }]);
});

test("a turn on a thread that another program is writing is refused", async () => {
  const harness = await openHarness({
    replies: [call("exec_command", { cmd: "echo on; sleep 984.5", yield_time_ms: 30000 })],
  });
  const writing = harness.start(["exec", "--json", "Begin."]);
  const threadId = await new Promise<string>((resolve) => {
    writing.stdout?.on("data", (piece) => {
      const [, id] = /"thread_id":"([^"]+)"/.exec(String(piece)) ?? [];
      if (id) resolve(id);
    });
  });
  const server = await startServer(harness, "stdio");
  const client = await server.connect();
  await client.request("thread/resume", { threadId });
  await expect(client.request("turn/start", { threadId, input: text("Me too.") })).rejects.toThrow(
    /written by another process/,
  );
  const gone = new Promise((resolve) => writing.on("close", resolve));
  writing.kill("SIGTERM");
  await gone;
});

test("secrets of the environment are in no delta, item or file", async () => {
  const secret = "sk-test-0123456789abcdef";
  const cut = secret.length / 2;
  const cmd = `printf '%s' ${secret.slice(0, cut)}; sleep 0.2; printf '%s done\\n' ${secret.slice(cut)}`;
  const harness = await openHarness({
    replies: [call("exec_command", { cmd }), replyWith(`The key is ${secret} indeed.`, { deltas: 9 })],
  });
  const server = await startServer(harness, "stdio", { env: { MY_API_KEY: secret } });
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  const turn = await runTurn(client, thread.id, "Print it.");
  const [command] = completedItems(client, turn.id, "commandExecution");
  expect(command.aggregatedOutput).toContain("[REDACTED]");
  expect(JSON.stringify(client.received)).not.toContain(secret);
  const deltas = client.received
    .flatMap(({ params }) => (typeof params.delta === "string" ? [params.delta] : []))
    .join("");
  expect(deltas).not.toContain(secret);
  expect(deltas).toContain("[REDACTED] indeed.");
});
