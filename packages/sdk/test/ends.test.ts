import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, say, stall } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { leftovers, nothingLeft } from "../../../e2e/leftovers.ts";
import { Client } from "../src/client.ts";
import { bench, errorOf, program } from "./bench.ts";

const sleepInTurn = { replies: [call("exec_command", { cmd: "sleep 1000" }), say("Done.")] };

test("an abort ends the program and all it started, and is an AbortError with its reason", async () => {
  const { thread, repository } = await bench(sleepInTurn);
  const abort = new AbortController();
  const turn = thread.run("wait", { signal: abort.signal });
  await something(repository);
  abort.abort("enough");
  expect(await errorOf(turn)).toMatchObject({ name: "AbortError", code: "ABORT_ERR", cause: "enough" });
  await nothingLeft(repository);
});

test("an abort reaches a turn that nobody reads at the moment", async () => {
  const { thread, repository } = await bench(sleepInTurn);
  const abort = new AbortController();
  const { events } = await thread.runStreamed("wait", { signal: abort.signal });
  await events.next();
  await something(repository);
  abort.abort();
  await nothingLeft(repository);
  const rest = (async () => {
    for await (const _event of events);
  })();
  expect(await errorOf(rest)).toMatchObject({ name: "AbortError" });
});

test("a signal that is aborted already starts nothing", async () => {
  const { thread, requests } = await bench(sleepInTurn);
  expect(await errorOf(thread.run("wait", { signal: AbortSignal.abort() }))).toMatchObject({ name: "AbortError" });
  expect(requests()).toEqual([]);
});

test("an aborted thread can be asked again", async () => {
  const { thread } = await bench({ replies: [stall("after-headers"), say("Here again.")] });
  const abort = new AbortController();
  const { events } = await thread.runStreamed("wait", { signal: abort.signal });
  const reading = (async () => {
    for await (const event of events) if (event.type === "turn.started") abort.abort();
  })();
  await errorOf(reading);
  expect((await thread.run("again")).finalResponse).toBe("Here again.");
});

test("leaving the loop ends the turn", async () => {
  const { thread, repository } = await bench(sleepInTurn);
  const { events } = await thread.runStreamed("wait");
  for await (const event of events) if (event.type === "item.started") break;
  await nothingLeft(repository);
});

test("a program that does not end when it is told to is made to", async () => {
  const { env, home, repository } = await bench();
  const deaf = `process.on("SIGTERM", () => {});
require("fs").writeFileSync("${home}/pid", String(process.pid));
console.log('{"type":"turn.started"}');
setInterval(() => {}, 1000);`;
  const thread = new Client({ env, agentPathOverride: program(home, deaf) }).startThread();
  const { events } = await thread.runStreamed("work");
  for await (const event of events) if (event.type === "turn.started") break;
  const pid = readFileSync(join(home, "pid"), "utf8");
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  await nothingLeft(repository);
});

test.each(["SIGKILL", "SIGSEGV"] as const)(
  "a program that dies of %s in mid-turn is an error that says so",
  async (name) => {
    const { thread, repository } = await bench(sleepInTurn);
    const { events } = await thread.runStreamed("wait");
    const reading = (async () => {
      for await (const event of events) if (event.type === "item.started") process.kill(pidOf(repository), name);
    })();
    const error = await errorOf(reading);
    expect(error).toMatchObject({ kind: "exited", signal: name, exitCode: null, lastEvent: { type: "item.started" } });
    expect(error.message).toContain(name);
    await nothingLeft(repository);
  },
);

test("a program that exits in mid-turn is an error with its exit code and the end of what it said", async () => {
  const { env, home } = await bench();
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

test("a program that ends well but without an end of its turn has not completed it", async () => {
  const { env, home } = await bench();
  const thread = new Client({ env, agentPathOverride: program(home, 'console.log(\'{"type":"turn.started"}\')') });
  expect(await errorOf(thread.startThread().run("work"))).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("a program whose leftover holds the output open is not waited for", async () => {
  const { env, home } = await bench();
  const leaving = `console.log('{"type":"turn.completed","usage":null,"cost_usd":null}');
const { spawn } = require("child_process");
const left = spawn("sleep", ["1000"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
require("fs").writeFileSync("${home}/left", String(left.pid));
left.unref();`;
  const thread = new Client({ env, agentPathOverride: program(home, leaving) }).startThread();
  const turn = await thread.run("work").finally(() => process.kill(Number(readFileSync(join(home, "left"), "utf8"))));
  expect(turn.finalResponse).toBe("");
});

test("a line that is no event is an error that shows it", async () => {
  const { env, home } = await bench();
  const talking = `console.log("Hello"); setInterval(() => {}, 1000);`;
  const thread = new Client({ env, agentPathOverride: program(home, talking) }).startThread();
  expect(await errorOf(thread.run("work"))).toMatchObject({
    kind: "unreadable",
    message: "Failed to parse item: Hello",
  });
});

test("lines and characters that arrive in pieces are put together", async () => {
  const { env, home } = await bench();
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

test("a prompt that the program does not read breaks nothing", async () => {
  const { env, home } = await bench();
  const unread = `console.log('{"type":"turn.completed","usage":null,"cost_usd":null}'); process.exit(0);`;
  const thread = new Client({ env, agentPathOverride: program(home, unread) }).startThread();
  expect((await thread.run("long ".repeat(1_000_000))).items).toEqual([]);
});

test("a program that is not there or may not be executed is reported at once", async () => {
  const { env, home } = await bench();
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

/** Settles when a command of the turn works in the repository. */
async function something(repository: string): Promise<void> {
  await eventually(() => leftovers(repository).length > 0);
}

/** The process of the program itself: the only one that works for the repository and was started by us. */
function pidOf(repository: string): number {
  const line = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(repository));
  return Number(line);
}
