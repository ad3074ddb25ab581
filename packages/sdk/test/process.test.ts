import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, expectNoProcesses, processesIn, replyWith, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { Client } from "../src/client.ts";
import { errorOf, openSdkHarness, program } from "./harness.ts";

const sleepInTurn = { replies: [call("exec_command", { cmd: "sleep 1000" }), replyWith("Done.")] };

test("an abort ends the program and its children, and throws an AbortError with the reason", async () => {
  const { thread, repository } = await openSdkHarness(sleepInTurn);
  const abort = new AbortController();
  const turn = thread.run("wait", { signal: abort.signal });
  await commandStarted(repository);
  abort.abort("enough");
  expect(await errorOf(turn)).toMatchObject({ name: "AbortError", code: "ABORT_ERR", cause: "enough" });
  await expectNoProcesses(repository);
});

test("an abort also ends a turn while its events are not being read", async () => {
  const { thread, repository } = await openSdkHarness(sleepInTurn);
  const abort = new AbortController();
  const { events } = await thread.runStreamed("wait", { signal: abort.signal });
  await events.next();
  await commandStarted(repository);
  abort.abort();
  await expectNoProcesses(repository);
  const rest = (async () => {
    for await (const _event of events);
  })();
  expect(await errorOf(rest)).toMatchObject({ name: "AbortError" });
});

test("an already aborted signal starts nothing", async () => {
  const { thread, requests } = await openSdkHarness(sleepInTurn);
  expect(await errorOf(thread.run("wait", { signal: AbortSignal.abort() }))).toMatchObject({ name: "AbortError" });
  expect(requests()).toEqual([]);
});

test("an aborted thread accepts another turn", async () => {
  const { thread } = await openSdkHarness({ replies: [stall("after-headers"), replyWith("Here again.")] });
  const abort = new AbortController();
  const { events } = await thread.runStreamed("wait", { signal: abort.signal });
  const reading = (async () => {
    for await (const event of events) if (event.type === "turn.started") abort.abort();
  })();
  await errorOf(reading);
  expect((await thread.run("again")).finalResponse).toBe("Here again.");
});

test("leaving the loop ends the turn", async () => {
  const { thread, repository } = await openSdkHarness(sleepInTurn);
  const { events } = await thread.runStreamed("wait");
  for await (const event of events) if (event.type === "item.started") break;
  await expectNoProcesses(repository);
});

test("a program that ignores SIGTERM is killed", async () => {
  const { env, home, repository } = await openSdkHarness();
  const ignoring = `process.on("SIGTERM", () => {});
require("fs").writeFileSync("${home}/pid", String(process.pid));
console.log('{"type":"turn.started"}');
setInterval(() => {}, 1000);`;
  const thread = new Client({ env, agentPathOverride: program(home, ignoring) }).startThread();
  const { events } = await thread.runStreamed("work");
  for await (const event of events) if (event.type === "turn.started") break;
  const pid = readFileSync(join(home, "pid"), "utf8");
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  await expectNoProcesses(repository);
});

test.each(["SIGKILL", "SIGSEGV"] as const)(
  "a program that dies of %s during a turn is an error with the signal",
  async (name) => {
    const { thread, repository } = await openSdkHarness(sleepInTurn);
    const { events } = await thread.runStreamed("wait");
    const reading = (async () => {
      for await (const event of events) if (event.type === "item.started") process.kill(pidOf(repository), name);
    })();
    const error = await errorOf(reading);
    expect(error).toMatchObject({ kind: "exited", signal: name, exitCode: null, lastEvent: { type: "item.started" } });
    expect(error.message).toContain(name);
    await expectNoProcesses(repository);
  },
);

test("a program that exits during a turn is an error with its exit code and the end of its stderr", async () => {
  const { env, home } = await openSdkHarness();
  const dying = `console.log('{"type":"turn.started"}');
process.stdout.write('{"type":"item.started","it');
console.error("x".repeat(20000) + "the disk is on fire");
process.exitCode = 42;`;
  const thread = new Client({ env, agentPathOverride: program(home, dying) }).startThread();
  const error = await errorOf(thread.run("work"));
  expect(error).toMatchObject({ kind: "exited", exitCode: 42, lastEvent: { type: "turn.started" } });
  expect(error.message).toContain("exit code 42");
  expect(error.stderrTail).toMatch(/the disk is on fire\n$/);
  expect(String(error.stderrTail).length).toBeLessThan(10_000);
});

test("exit code 0 without turn.completed is an error", async () => {
  const { env, home } = await openSdkHarness();
  const thread = new Client({ env, agentPathOverride: program(home, 'console.log(\'{"type":"turn.started"}\')') });
  expect(await errorOf(thread.startThread().run("work"))).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("a leftover child that keeps the output open does not delay the turn", async () => {
  const { env, home } = await openSdkHarness();
  const leaving = `console.log('{"type":"turn.completed","usage":null,"cost_usd":null}');
const { spawn } = require("child_process");
const child = spawn("sleep", ["1000"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
require("fs").writeFileSync("${home}/child", String(child.pid));
child.unref();`;
  const thread = new Client({ env, agentPathOverride: program(home, leaving) }).startThread();
  const turn = await thread.run("work").finally(() => process.kill(Number(readFileSync(join(home, "child"), "utf8"))));
  expect(turn.finalResponse).toBe("");
});

test("a line that is not an event is an error that shows it", async () => {
  const { env, home } = await openSdkHarness();
  const talking = `console.log("Hello"); setInterval(() => {}, 1000);`;
  const thread = new Client({ env, agentPathOverride: program(home, talking) }).startThread();
  expect(await errorOf(thread.run("work"))).toMatchObject({
    kind: "unreadable",
    message: "Failed to parse item: Hello",
  });
});

test("lines and characters that arrive in pieces are joined", async () => {
  const { env, home } = await openSdkHarness();
  const bytes = Buffer.from(
    `{"type":"error","message":"${"ä€😀".repeat(30_000)}"}\n\n{"type":"turn.completed","usage":null,"cost_usd":null}`,
  );
  writeFileSync(join(home, "bytes"), Buffer.concat([bytes, Buffer.from("\n")]));
  const slow = `const bytes = require("fs").readFileSync("${home}/bytes");
for (let at = 0; at < bytes.length; at += 4099) require("fs").writeSync(1, bytes.subarray(at, at + 4099));`;
  const thread = new Client({ env, agentPathOverride: program(home, slow) }).startThread();
  const seen = [];
  for await (const event of (await thread.runStreamed("work")).events) seen.push(event);
  expect(seen).toMatchObject([{ message: "ä€😀".repeat(30_000) }, { type: "turn.completed" }]);
});

test("a prompt that the program does not read is not an error", async () => {
  const { env, home } = await openSdkHarness();
  const unread = `console.log('{"type":"turn.completed","usage":null,"cost_usd":null}'); process.exit(0);`;
  const thread = new Client({ env, agentPathOverride: program(home, unread) }).startThread();
  expect((await thread.run("long ".repeat(1_000_000))).items).toEqual([]);
});

test("a program that is missing or not executable is an error", async () => {
  const { env, home } = await openSdkHarness();
  const missing = new Client({ env, agentPathOverride: join(home, "agentcli") }).startThread();
  expect(await errorOf(missing.run("work"))).toMatchObject({ name: "TurnError", kind: "not-started", exitCode: null });
  const unread = new Client({ env, agentPathOverride: join(home, "agentcli.cjs") }).startThread();
  expect((await errorOf(unread.run("work"))).message).toContain(join(home, "agentcli.cjs"));
  const plain = join(home, "plain");
  writeFileSync(plain, "#!/bin/sh\n");
  chmodSync(plain, 0o644);
  const refused = new Client({ env, agentPathOverride: plain }).startThread();
  expect((await errorOf(refused.run("work"))).message).toContain("EACCES");
});

/** Waits until a command of the turn runs in the repository. */
async function commandStarted(repository: string): Promise<void> {
  await eventually(() => processesIn(repository).length > 0);
}

/** The process id of the program: the only child of this process for the repository. */
function pidOf(repository: string): number {
  const line = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(repository));
  return Number(line);
}
