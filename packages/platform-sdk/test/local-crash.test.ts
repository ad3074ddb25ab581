// Local agents and the end of processes: nothing is lost, nothing is left running, no reader waits for ever.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { call, isFullSweep, replyWith, stall, sweepSeed } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { bodiesOf, type LocalHarness, openLocalHarness, readAll } from "./local-harness.ts";
import { summary } from "./scenario-runner.ts";

const program = fileURLToPath(new URL("local-child.mjs", import.meta.url));
const killer = fileURLToPath(new URL("kill-at-step.cjs", import.meta.url));
const shell = (cmd: string) => call("exec_command", { cmd });

interface Child {
  process: ChildProcess;
  /** The next line it says; null when it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: what the program prints
  next(): Promise<any>;
  ended: Promise<unknown>;
}

function start(
  harness: LocalHarness,
  task: object,
  variables: Record<string, string> = {},
  node: string[] = [],
): Child {
  const child = spawn(process.execPath, [...node, program, JSON.stringify({ cwd: harness.repository.path, ...task })], {
    env: { ...harness.variables, ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    return done ? null : JSON.parse(value);
  };
  return { process: child, next, ended: once(child, "exit") };
}

test("a run whose process is killed ends as interrupted, and the agent goes on", async () => {
  const harness = await openLocalHarness([shell("echo $$ > pid; exec sleep 1000"), replyWith("Back.")]);
  const child = start(harness, { text: "Sleep" });
  const { agentId, runId } = await child.next();
  const file = join(harness.repository.path, "pid");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d/);
  expect((await harness.Agent.get(agentId)).status).toBe("running");
  child.process.kill("SIGKILL");
  await child.ended;
  await expect.poll(() => existsSync(`/proc/${readFileSync(file, "utf8").trim()}`)).toBe(false);
  const run = await harness.Agent.getRun(runId, { agentId });
  expect(await run.wait()).toMatchObject({ status: "error", error: { code: "interrupted" } });
  expect(summary(await readAll(run))).toMatchObject({ user: "Sleep", lastStatus: "ERROR" });
  expect((await harness.Agent.get(agentId)).status).toBe("error");
  const agent = await harness.Agent.resume(agentId, harness.options());
  expect(await (await agent.send("Go on")).wait()).toMatchObject({ status: "finished", result: "Back." });
  expect(bodiesOf(harness).at(-1)).toContain("The outcome of this call is unknown");
});

test("a repository that a killed process created is reported and set aside by the next run", async () => {
  const create = "git init -q vendor && git -C vendor config core.fsmonitor ./evil";
  const harness = await openLocalHarness([shell(create), stall("before-headers"), replyWith("Back.")]);
  const local = { cwd: harness.repository.path, sandboxOptions: { enabled: true } };
  const child = start(harness, { text: "Create", options: { local } });
  const { agentId } = await child.next();
  await expect.poll(() => harness.requests().length).toBe(2);
  child.process.kill("SIGKILL");
  await child.ended;
  const agent = await harness.Agent.resume(agentId, harness.options());
  const messages = JSON.stringify(await readAll(await agent.send("Go on")));
  expect(messages).toContain("A run that was killed created the git repository in vendor. Its .git was renamed");
  expect(readdirSync(join(harness.repository.path, "vendor"))).toEqual([".git.untrusted"]);
  expect(existsSync(join(harness.sdkHome, "unfinished-runs"))).toBe(false);
});

test("another process sees the run as it goes, is busy, and may cancel it", async () => {
  const harness = await openLocalHarness([replyWith("Thinking."), stall("before-headers"), replyWith("After.")]);
  const child = start(harness, { text: "Wait" });
  const { agentId } = await child.next();
  await child.ended;
  const waiting = start(harness, { agentId, text: "Wait more" });
  const { runId } = await waiting.next();
  await expect.poll(() => harness.requests().length).toBe(2);
  const run = await harness.Agent.getRun(runId, { agentId });
  const messages = readAll(run);
  const agent = await harness.Agent.resume(agentId, harness.options());
  await expect(agent.send("Me too")).rejects.toMatchObject({
    code: "agent_busy",
    message: expect.stringContaining(`process ${waiting.process.pid}`),
  });
  await harness.Agent.cancelRun(runId, { agentId });
  expect(await waiting.next()).toMatchObject({ status: "cancelled" });
  expect(summary(await messages)).toMatchObject({ user: "Wait more", lastStatus: "CANCELLED" });
  await waiting.ended;
  expect(await (await agent.send("Now")).wait()).toMatchObject({ status: "finished", result: "After." });
});

test("force takes the agent over from a process that works", async () => {
  const harness = await openLocalHarness([stall("before-headers"), replyWith("Mine.")]);
  const child = start(harness, { text: "Wait" });
  const { agentId } = await child.next();
  await expect.poll(() => harness.requests().length).toBe(1);
  const agent = await harness.Agent.resume(agentId, harness.options());
  const run = await agent.send("Mine now", { local: { force: true } });
  expect(await run.wait()).toMatchObject({ status: "finished", result: "Mine." });
  expect(await child.next()).toMatchObject({ status: "cancelled" });
});

test("a program ends by itself when its run is over, and finds everything as it was", async () => {
  const harness = await openLocalHarness([shell("sleep 1000 & echo started"), replyWith("Done.")]);
  const child = start(harness, { text: "Start" });
  await child.next();
  expect(await child.next()).toMatchObject({ status: "finished", result: "Done." });
  expect(await child.next()).toEqual({ isAsBefore: true });
  const [code] = (await child.ended) as [number];
  expect(code).toBe(0);
});

const maxSteps = 1_000;
/** A sample that differs each day, or every step. An odd stride has both kinds of kill. */
const [stride, first] = isFullSweep ? [1, 1] : [13, 1 + (sweepSeed % 13)];

test("killed at any change of its files, an agent is not there or takes the next prompt", {
  timeout: 1_200_000,
}, async () => {
  const agentId = "agent-sweep";
  let isWhole = false;
  for (let at = first; !isWhole && at < maxSteps; at += stride) {
    const about = `change ${at}`;
    const harness = await openLocalHarness({
      replies: [shell("echo x >> log"), replyWith("One."), replyWith("Two.")],
      repeat: "last",
    });
    const kill = { KILL_AT: String(at), KILL_WHEN: at % 2 ? "before" : "torn", KILL_BELOW: harness.sdkHome };
    const child = start(harness, { text: "Count", options: { agentId } }, kill, ["--require", killer]);
    const [, signal] = (await child.ended) as [number, string];
    isWhole = signal !== "SIGKILL";
    const status = await harness.Agent.get(agentId).then(
      (agent) => agent.status,
      (error) => error.code,
    );
    expect(["finished", "error", "agent_not_found"], about).toContain(status);
    const runs = status === "agent_not_found" ? [] : (await harness.Agent.listRuns(agentId)).items;
    for (const run of runs) {
      const { status: end } = await run.wait();
      expect(["error", "finished"], about).toContain(end);
      expect((await readAll(run)).at(-1), about).toMatchObject({ status: end.toUpperCase() });
    }
    const agent = await harness.Agent.create(harness.options({ agentId }));
    expect(await (await agent.send("Go on")).wait(), about).toMatchObject({ status: "finished" });
  }
  expect(isWhole).toBe(true);
});
