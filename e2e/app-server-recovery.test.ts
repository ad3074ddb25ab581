// A server that dies, ends or is one of several programs at work on the same threads.
import { call, say, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { startServer } from "./app-server-client.ts";
import { completedItems, runTurn, startTurn, text, turnEnd } from "./app-server-turns.ts";
import { desk } from "./harness.ts";
import { leftovers, nothingLeft } from "./leftovers.ts";

test("a server killed in the middle of a turn leaves a thread that goes on in the next", async () => {
  const cmd = "echo once >> ran.txt; echo started; sleep 986.5";
  const at = await desk({ replies: [call("exec_command", { cmd, yield_time_ms: 30000 }), say("I looked again.")] });
  const first = await startServer(at, "stdio");
  const client = await first.connect();
  const { thread } = await client.request("thread/start", { sandbox: "workspace-write" });
  await startTurn(client, thread.id, "Take your time.");
  await client.told("item/commandExecution/outputDelta");
  first.child.kill("SIGKILL");
  await nothingLeft(at.repository);

  const second = await startServer(at, "stdio");
  const again = await second.connect();
  const { thread: resumed } = await again.request("thread/resume", { threadId: thread.id });
  expect(resumed.turns).toMatchObject([
    { status: "interrupted", items: [{ type: "userMessage" }, { type: "commandExecution" }] },
  ]);
  expect(resumed.status).toEqual({ type: "idle" });
  const turn = await runTurn(again, thread.id, "And now?");
  expect(turn.items).toMatchObject([{ text: "I looked again." }]);
  expect(JSON.stringify(at.requests().at(-1)?.body)).toContain("The outcome of this call is unknown");
  const ends = at.records().filter(({ record }) => record.type === "turn.ended");
  expect(ends.map(({ record }) => (record.end as { status: string }).status)).toEqual(["cancelled", "completed"]);
});

test("the end of the input interrupts every turn, says so in the log and leaves no process", async () => {
  const at = await desk({
    replies: {
      replies: [call("exec_command", { cmd: "echo on; sleep 985.5", yield_time_ms: 30000 })],
      repeat: "always",
    },
  });
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const threads = await Promise.all([1, 2, 3].map(() => client.request("thread/start", {})));
  const turns = await Promise.all(threads.map(({ thread }) => startTurn(client, thread.id, "Take your time.")));
  for (const { thread } of threads)
    await client.until(
      ({ method, params }) => method === "item/commandExecution/outputDelta" && params.threadId === thread.id,
    );
  expect(leftovers(at.repository).filter((process) => process.includes("sleep 985.5")).length).toBeGreaterThan(0);
  expect(await server.end()).toBe(0);
  for (const { id } of turns) expect((await turnEnd(client, id)).status).toBe("interrupted");
  await nothingLeft(at.repository);
});

test("a turn that waits for the model ends with the input", async () => {
  const at = await desk({ replies: [stall("after-headers")] });
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  const { id } = await startTurn(client, thread.id, "Hello?");
  await client.told("item/completed");
  expect(await server.end()).toBe(0);
  expect((await turnEnd(client, id)).status).toBe("interrupted");
  expect(at.records().at(-1)?.record).toMatchObject({ type: "turn.ended", end: { status: "cancelled" } });
});

test("the command line and the server go on with each other's threads", async () => {
  const at = await desk({ replies: [say("One."), say("Two."), say("Three.")] });
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  await runTurn(client, thread.id, "First.");
  const { code, stdout } = await at.run(["exec", "resume", thread.id, "Second."]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Two.\n" });
  const third = await runTurn(client, thread.id, "Third.");
  expect(third.items).toMatchObject([{ text: "Three." }]);
  const { thread: read } = await client.request("thread/read", { threadId: thread.id, includeTurns: true });
  const said = read.turns.map(({ items }: { items: { type: string; text?: string }[] }) => items.at(-1)?.text);
  expect(said).toEqual(["One.", "Two.", "Three."]);
  const asked = JSON.stringify(at.requests().at(-1)?.body);
  expect(["First.", "Second.", "Third."].filter((words) => asked.includes(words))).toHaveLength(3);
});

test("a thread of the command line is listed, resumed and continued", async () => {
  const at = await desk({ replies: [say("From exec."), say("From the server.")] });
  await at.run(["exec", "Begin."]);
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  const { data } = await client.request("thread/list", {});
  expect(data).toMatchObject([{ preview: "Begin.", status: { type: "notLoaded" }, cwd: at.repository }]);
  const { thread } = await client.request("thread/resume", { threadId: data[0].id });
  expect(thread.turns[0].items.at(-1)).toMatchObject({ type: "agentMessage", text: "From exec." });
  const turn = await runTurn(client, thread.id, "Go on.");
  expect(turn.items).toMatchObject([{ text: "From the server." }]);
});

test("a thread that another program is writing cannot be given a turn", async () => {
  const at = await desk({ replies: [call("exec_command", { cmd: "echo on; sleep 984.5", yield_time_ms: 30000 })] });
  const writing = at.start(["exec", "--json", "Begin."]);
  const threadId = await new Promise<string>((resolve) => {
    writing.stdout?.on("data", (piece) => {
      const [, id] = /"thread_id":"([^"]+)"/.exec(String(piece)) ?? [];
      if (id) resolve(id);
    });
  });
  const server = await startServer(at, "stdio");
  const client = await server.connect();
  await client.request("thread/resume", { threadId });
  await expect(client.request("turn/start", { threadId, input: text("Me too.") })).rejects.toThrow(
    /written by another process/,
  );
  const gone = new Promise((resolve) => writing.on("close", resolve));
  writing.kill("SIGTERM");
  await gone;
});

test("secrets of the environment are in no delta, no item and no file", async () => {
  const secret = "sk-test-0123456789abcdef";
  const cut = secret.length / 2;
  const cmd = `printf '%s' ${secret.slice(0, cut)}; sleep 0.2; printf '%s done\\n' ${secret.slice(cut)}`;
  const at = await desk({
    replies: [call("exec_command", { cmd }), say(`The key is ${secret} indeed.`, { deltas: 9 })],
  });
  const server = await startServer(at, "stdio", { env: { MY_API_KEY: secret } });
  const client = await server.connect();
  const { thread } = await client.request("thread/start", {});
  const turn = await runTurn(client, thread.id, "Print it.");
  const [command] = completedItems(client, turn.id, "commandExecution");
  expect(command.aggregatedOutput).toContain("[redacted MY_API_KEY]");
  expect(JSON.stringify(client.heard)).not.toContain(secret);
  const deltas = client.heard
    .flatMap(({ params }) => (typeof params.delta === "string" ? [params.delta] : []))
    .join("");
  expect(deltas).not.toContain(secret);
  expect(deltas).toContain("[redacted MY_API_KEY] indeed.");
});
