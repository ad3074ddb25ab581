import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, jsonLines, replyWith, startModelServer } from "@agentcli/testkit";
import { itemsOf, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

test("an explorer cannot write, even where its parent may", async () => {
  const replies = [
    { ...replyWith("The child is done."), when: { bodyIncludes: "Tried." } },
    { ...replyWith("Tried."), when: { bodyIncludes: "Read-only file system" } },
    {
      ...call("exec_command", { cmd: "echo x > child.txt" }),
      when: { bodyIncludes: "You answer a question about this repository" },
    },
    { ...call("wait_agent", { targets: ["explorer"] }), when: { bodyIncludes: "agent_id" } },
    call("spawn_agent", { message: "write a file", agent_type: "explorer" }),
  ];
  const harness = await openHarness({ replies: { replies, repeat: "always" } });
  const { code, events } = await harness.events(["-s", "workspace-write", "--budget", "turns=40", "try it"]);
  expect(code).toBe(0);
  expect(itemsOf(events, "collab_tool_call")[0]).toMatchObject({ tool: "spawn_agent", status: "completed" });
  expect(existsSync(join(harness.repository, "child.txt"))).toBe(false);
  expect(sessionFiles(harness.home)).toHaveLength(2);
});

test("a killed parent leaves no child running, and its thread can be resumed", async () => {
  const replies = [
    { ...replyWith("Going on."), when: { bodyIncludes: "take it up again" } },
    {
      ...call("exec_command", { cmd: "sleep 1000" }),
      when: { bodyIncludes: "You do one piece of a larger task" },
    },
    { ...call("exec_command", { cmd: "echo $$ > parent.txt; sleep 1000" }), when: { bodyIncludes: "agent_id" } },
    call("spawn_agent", { message: "sleep", agent_type: "worker" }),
  ];
  const harness = await openHarness({ replies: { replies, repeat: "always" } });
  const child = harness.start(["exec", "-s", "workspace-write", "begin"]);
  await eventually(() => existsSync(join(harness.repository, "parent.txt")));
  child.kill("SIGKILL");
  const { expectNoProcesses: nothingLeft } = await import("@agentcli/testkit");
  await nothingLeft(harness.repository);
  expect((await harness.run(["exec", "resume", "--last", "take it up again"])).stdout).toBe("Going on.\n");
});

test("agents that spawn at every level stay within depth, number and budget, and end", async () => {
  const always = {
    calls: ["a", "b"].map((name) => ({
      name: "spawn_agent",
      arguments: { message: `spawn more ${name}` },
      callId: name,
    })),
  };
  const config = "[agents]\nmax_depth = 3\nmax_concurrent_threads_per_session = 5\n";
  const harness = await openHarness({ replies: { replies: [always], repeat: "always" }, config });
  const { code, events } = await harness.events(["--budget", "turns=60", "spawn"]);
  expect(code).toBe(5);
  expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "budget", limit: "turns" } });
  expect(harness.requests().length).toBeLessThanOrEqual(60);
  const threads = sessionFiles(harness.home).map((path) => jsonLines(readFileSync(path, "utf8")) as Line[]);
  const parents = new Map(threads.map(([first]) => [first?.record.threadId, first?.record.parentId]));
  const depthOf = (id: string | undefined): number =>
    parents.get(id) === undefined ? 0 : 1 + depthOf(parents.get(id));
  // All five slots are used, by whichever agents came first, and none is still running.
  expect(threads).toHaveLength(6);
  for (const id of parents.keys()) expect(depthOf(id)).toBeLessThanOrEqual(3);
  for (const records of threads) expect(records.at(-1)?.record.type).toBe("turn.ended");
});

type Line = { record: { type: string; threadId?: string; parentId?: string } };

const helper = (more: string) =>
  `name = "helper"\ndescription = "Helps."\ndeveloper_instructions = "You are the helper."\n${more}`;

test("a sub-agent whose role names another provider is asked there, on its own wire", async () => {
  const other = await startModelServer([replyWith("From elsewhere.")]);
  onTestFinished(() => other.close());
  const replies = [
    call("spawn_agent", { message: "do your part", agent_type: "helper" }),
    call("wait_agent", { targets: ["helper"] }),
    replyWith("All done."),
  ];
  const config = `[model_providers.other]\nbase_url = "${other.url}"\nwire_api = "chat"\n`;
  const harness = await openHarness({ replies, config });
  mkdirSync(join(harness.home, "agents"));
  writeFileSync(join(harness.home, "agents/helper.toml"), helper('model = "small"\nmodel_provider = "other"\n'));
  expect(await harness.run(["exec", "go"])).toMatchObject({ code: 0, stdout: "All done.\n" });
  expect(other.requests()).toMatchObject([{ path: "/v1/chat/completions", body: { model: "small" } }]);
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain("From elsewhere.");
});

test("a sub-agent with a model of its own is compacted where the window of that model ends", async () => {
  const full = { inputTokens: 15_000, cachedInputTokens: 0, outputTokens: 10, reasoningOutputTokens: 0 };
  const replies = [
    call("spawn_agent", { message: "do your part", agent_type: "helper" }),
    call("wait_agent", { targets: ["helper"] }),
    replyWith("All done."),
  ];
  const other = await startModelServer([
    { ...call("exec_command", { cmd: "echo much" }), usage: full },
    replyWith("A summary."),
    replyWith("My part is done."),
  ]);
  onTestFinished(() => other.close());
  const config = `[model_providers.other]\nbase_url = "${other.url}"\n`;
  const harness = await openHarness({ replies, config });
  mkdirSync(join(harness.home, "agents"));
  const role = 'model = "gpt-3.5-turbo"\nmodel_provider = "other"\n';
  writeFileSync(join(harness.home, "agents/helper.toml"), helper(role));
  expect(await harness.run(["exec", "-c", "compact_prompt='In one haiku, please.'", "go"])).toMatchObject({
    code: 0,
    stdout: "All done.\n",
  });
  const asked = other.requests().map(({ body }) => JSON.stringify(body).includes("In one haiku"));
  expect(asked).toEqual([false, true, false]);
});

test("a sub-agent with the practice model is not asked at the provider of the run", async () => {
  const replies = [
    call("spawn_agent", { message: "run echo from-practice", model: "practice" }),
    call("wait_agent", { targets: ["default"] }),
    replyWith("All done."),
  ];
  const harness = await openHarness({ replies });
  expect(await harness.run(["exec", "go"])).toMatchObject({ code: 0, stdout: "All done.\n" });
  const asked = harness.requests().map(({ body }) => body);
  expect(asked.map((body) => (body as { model: string }).model)).toEqual(["scripted", "scripted", "scripted"]);
  expect(JSON.stringify(asked.at(-1))).toContain("from-practice");
});
