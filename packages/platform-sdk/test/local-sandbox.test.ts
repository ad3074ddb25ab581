// The sandbox of local agents: there when asked for, or no run at all.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { agentCalls } from "../src/agents.ts";
import { ConfigurationError } from "../src/errors.ts";
import { bodiesOf, model, openLocalHarness, readAll, runtimeWith } from "./local-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });
const sandboxOptions = { enabled: true };

test("inside the sandbox an agent writes its directory and those it was given, and nothing else", async () => {
  const outside = join("..", `escaped-${process.pid}`);
  const command = `touch inside; touch ~/extra/more; touch ${outside}; touch .git/x; cat ~/.platform/secret; echo done`;
  const harness = await openLocalHarness([shell(command), replyWith("Tried.")]);
  const extra = join(harness.home, "extra");
  mkdirSync(extra);
  mkdirSync(join(harness.home, ".platform"));
  writeFileSync(join(harness.home, ".platform", "secret"), "hush");
  const agent = await harness.Agent.create(harness.options({ local: { dirs: [extra], sandboxOptions } }));
  const messages = await readAll(await agent.send("Try"));
  expect(messages.at(-1)).toMatchObject({ type: "status", status: "FINISHED" });
  const isThere = (path: string) => existsSync(join(harness.repository.path, path));
  expect(["inside", outside, ".git/x"].map(isThere)).toEqual([true, false, false]);
  expect(existsSync(join(extra, "more"))).toBe(true);
  expect(bodiesOf(harness).at(-1)).toContain("Sandbox: workspace-write");
  expect(bodiesOf(harness).at(-1)).not.toContain("hush");
});

test("an agent that is resumed stays in its sandbox, unless the caller turns it off", async () => {
  const outside = (name: string) => join("..", `${name}-${process.pid}`);
  const replies = ["first", "second", "third"].flatMap((name) => [
    shell(`touch ${outside(name)}; true`),
    replyWith("Tried."),
  ]);
  const harness = await openLocalHarness(replies);
  const isThere = (name: string) => existsSync(join(harness.repository.path, outside(name)));
  const { agentId, send } = await harness.Agent.create(harness.options({ local: { sandboxOptions } }));
  await readAll(await send("Try"));
  const resumed = await harness.Agent.resume(agentId, harness.options());
  await readAll(await resumed.send("Try again"));
  expect(bodiesOf(harness).at(-1)).toContain("Sandbox: workspace-write");
  expect([isThere("first"), isThere("second")]).toEqual([false, false]);
  const free = await harness.Agent.resume(agentId, harness.options({ local: { sandboxOptions: { enabled: false } } }));
  await readAll(await free.send("Try again"));
  expect(isThere("third")).toBe(true);
  rmSync(join(harness.repository.path, outside("third")));
});

test("an agent whose directory has become a link is not resumed where the link leads", async () => {
  const harness = await openLocalHarness([replyWith("First."), shell("touch written"), replyWith("Second.")]);
  const [own, other] = ["own", "other"].map((name) => join(harness.repository.path, name)) as [string, string];
  for (const path of [own, other]) mkdirSync(path);
  const at = (cwd: string) => harness.options({ local: { cwd, sandboxOptions } });
  const { agentId, send } = await harness.Agent.create(at(own));
  await readAll(await send("Begin"));
  renameSync(own, `${own}.old`);
  symlinkSync(other, own);
  const unnamed = { model, local: { sandboxOptions } };
  for (const options of [unnamed, at(own)]) {
    const resumed = await harness.Agent.resume(agentId, options);
    await expect(resumed.send("Go on")).rejects.toThrow(`${own}, is now a link to ${other}`);
  }
  expect([bodiesOf(harness).length, existsSync(join(other, "written"))]).toEqual([1, false]);
  await readAll(await (await harness.Agent.resume(agentId, at(other))).send("Go on"));
  expect(existsSync(join(other, "written"))).toBe(true);
});

test("limits of the sandbox hold for commands, and one that cannot be read is refused", async () => {
  const hog = `perl -e '$x = "x" x (400 * 1024 * 1024); print "TA", "KEN"'; df --output=size -B1 /tmp; echo done`;
  const harness = await openLocalHarness([shell(hog), replyWith("Tried.")]);
  const limited = (limits: object) =>
    harness.Agent.create(harness.options({ local: { sandboxOptions: { enabled: true, limits } } }));
  await readAll(await (await limited({ memory: "200m", tmp: "16m" })).send("Try"));
  expect(bodiesOf(harness).at(-1)).not.toContain("TAKEN");
  // All private directories share the 16 MiB.
  const [, size] = /(\d{7,})\\+ndone/.exec(JSON.stringify(bodiesOf(harness).at(-1))) ?? [];
  expect(Number(size)).toBeLessThanOrEqual(16 * 1024 ** 2);
  await expect(limited({ memory: "much" })).rejects.toMatchObject({ code: "invalid_option" });
});

test("limits hold where only Landlock works, in the mode that may use it", async () => {
  const hog = `perl -e '$x = "x" x (400 * 1024 * 1024); print "TA", "KEN"'; echo done`;
  const harness = await openLocalHarness([shell(hog), replyWith("Tried.")]);
  const programs = join(harness.home, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const Agent = agentCalls(runtimeWith({ ...harness.variables, PATH: `${programs}:${process.env.PATH}` }));
  const local = { sandboxOptions: { enabled: true, limits: { memory: "200m" } } };
  const agent = await Agent.create(harness.options({ mode: "plan", local }));
  await readAll(await agent.send("Plan"));
  const sent = bodiesOf(harness).at(-1);
  expect(sent).toContain("done");
  expect(sent).not.toContain("TAKEN");
  const writing = await Agent.create(harness.options({ local }));
  await expect(writing.send("Try")).rejects.toMatchObject({ message: expect.stringContaining("Only Landlock works") });
});

test("without one, commands act where the caller is", async () => {
  const harness = await openLocalHarness([shell("echo free > .git/x"), replyWith("Done.")]);
  await harness.Agent.prompt("Try", harness.options());
  expect(readFileSync(join(harness.repository.path, ".git/x"), "utf8")).toBe("free\n");
});

test("a plan changes nothing, whatever the model does", async () => {
  const patch = "*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch";
  const harness = await openLocalHarness([
    shell("touch a.txt"),
    call("apply_patch", { input: patch }),
    replyWith("1. Do it."),
  ]);
  const agent = await harness.Agent.create(harness.options({ mode: "plan" }));
  expect(await (await agent.send("Plan")).wait()).toMatchObject({ status: "finished", result: "1. Do it." });
  expect([
    existsSync(join(harness.repository.path, "a.txt")),
    existsSync(join(harness.repository.path, "b.txt")),
  ]).toEqual([false, false]);
});

test("where there is no sandbox, a run that wants one is refused and nothing is done", async () => {
  const harness = await openLocalHarness([shell("touch a.txt"), replyWith("Done.")]);
  // Nothing on the way to programs: no bubblewrap.
  const Agent = agentCalls(runtimeWith({ ...harness.variables, PATH: join(harness.home, "nothing") }));
  const agent = await Agent.create(harness.options({ local: { sandboxOptions } }));
  const refusal = await agent.send("Try").catch((error) => error);
  expect(refusal).toBeInstanceOf(ConfigurationError);
  expect(refusal).toMatchObject({ code: "sandbox_unavailable" });
  expect(harness.requests()).toEqual([]);
  await expect(Agent.get(agent.agentId)).rejects.toMatchObject({ code: "agent_not_found" });
});
