import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call, eventually, jsonLines, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { desk, itemsOf, sessionFiles } from "./harness.ts";

test("an explorer cannot write, whatever its parent may", async () => {
  const replies = [
    { ...say("The child is done."), when: { bodyIncludes: "subagent_notification" } },
    { ...say("Tried."), when: { bodyIncludes: "Read-only file system" } },
    {
      ...call("exec_command", { cmd: "echo x > child.txt" }),
      when: { bodyIncludes: "You answer a question about this repository" },
    },
    { ...call("exec_command", { cmd: "sleep 0.2" }), when: { bodyIncludes: "agent_id" } },
    call("spawn_agent", { message: "write a file", agent_type: "explorer" }),
  ];
  const place = await desk({ replies: { replies, repeat: "always" } });
  const { code, events } = await place.events(["-s", "workspace-write", "--budget", "turns=40", "try it"]);
  expect(code).toBe(0);
  expect(itemsOf(events, "collab_tool_call")).toMatchObject([{ tool: "spawn_agent", status: "completed" }]);
  expect(existsSync(join(place.repository, "child.txt"))).toBe(false);
  expect(sessionFiles(place.home)).toHaveLength(2);
});

test("a killed parent leaves no child behind, and its thread can go on", async () => {
  const replies = [
    { ...say("Going on."), when: { bodyIncludes: "take it up again" } },
    {
      ...call("exec_command", { cmd: "sleep 1000" }),
      when: { bodyIncludes: "You carry out one piece of a larger task" },
    },
    { ...call("exec_command", { cmd: "echo $$ > parent.txt; sleep 1000" }), when: { bodyIncludes: "agent_id" } },
    call("spawn_agent", { message: "sleep", agent_type: "worker" }),
  ];
  const place = await desk({ replies: { replies, repeat: "always" } });
  const child = place.start(["exec", "-s", "workspace-write", "begin"]);
  await eventually(() => existsSync(join(place.repository, "parent.txt")));
  child.kill("SIGKILL");
  const { nothingLeft } = await import("./leftovers.ts");
  await nothingLeft(place.repository);
  expect((await place.run(["exec", "resume", "--last", "take it up again"])).stdout).toBe("Going on.\n");
});

test("a storm of agents that spawn at every level stays within depth, number and budget, and ends", async () => {
  const always = {
    calls: ["a", "b"].map((name) => ({
      name: "spawn_agent",
      arguments: { message: `spawn more ${name}` },
      callId: name,
    })),
  };
  const config = "[agents]\nmax_depth = 3\nmax_concurrent_threads_per_session = 5\n";
  const place = await desk({ replies: { replies: [always], repeat: "always" }, config });
  const { code, events } = await place.events(["--budget", "turns=60", "spawn"]);
  expect(code).toBe(5);
  expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "budget", limit: "turns" } });
  expect(place.requests().length).toBeLessThanOrEqual(60);
  const threads = sessionFiles(place.home).map((path) => jsonLines(readFileSync(path, "utf8")) as Line[]);
  const parents = new Map(threads.map(([first]) => [first?.record.threadId, first?.record.parentId]));
  const depthOf = (id: string | undefined): number =>
    parents.get(id) === undefined ? 0 : 1 + depthOf(parents.get(id));
  // All five places are taken, whoever was first to take them, and nobody is left working.
  expect(threads).toHaveLength(6);
  for (const id of parents.keys()) expect(depthOf(id)).toBeLessThanOrEqual(3);
  for (const records of threads) expect(records.at(-1)?.record.type).toBe("turn.ended");
});

type Line = { record: { type: string; threadId?: string; parentId?: string } };
